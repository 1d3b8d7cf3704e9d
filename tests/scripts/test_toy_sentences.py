"""The grammar of the toy corpus against sentences translated by hand and nouns declined by hand."""

import pytest
from toy_grammar import english, german
from toy_grammar.adjectives import ADJECTIVES
from toy_grammar.german_declension import noun_phrase
from toy_grammar.nouns import NOUNS
from toy_grammar.places import (
    AT_HOME,
    FREQUENCIES,
    HOME,
    INSTRUMENTS,
    MANNERS,
    TIMES,
    beside,
    goal,
    location,
    visit,
)
from toy_grammar.syntax import (
    Both,
    Clause,
    Coordination,
    Existence,
    Gap,
    Name,
    NounPhrase,
    Predicate,
    Question,
    Statement,
    Subordination,
)
from toy_grammar.verbs import (
    ASK,
    BE,
    DITRANSITIVE,
    FORGET_TO,
    GO,
    HOPE,
    INTRANSITIVE,
    KNOW_THAT,
    LIE,
    OBLIQUE,
    PUT_FLAT,
    PUT_UPRIGHT,
    RAIN,
    SAY,
    STAND,
    STAY,
    TRANSITIVE,
    TRAVEL,
    TRY,
)
from toy_grammar.words import PRONOUNS

ALONE = {verb.lemma: verb for verb in INTRANSITIVE}
VERB = {verb.lemma: verb for verb in (*TRANSITIVE, *OBLIQUE, *DITRANSITIVE)}
WHEN = {adverb.english: adverb for adverbs in TIMES.values() for adverb in adverbs}
OFTEN = {adverb.english: adverb for adverb in FREQUENCIES}
ANNA, PETER = Name("Anna", "f"), Name("Peter", "m")
ME, HE, SHE, WE, THEY = (PRONOUNS[key] for key in ("I", "he", "she", "we", "they"))


def phrase(words, **rest):
    """ "the old man", "two dog": determiner ("-" for none), adjective, noun by lemma."""
    determiner, *adjective, noun = words.split()
    chosen = ADJECTIVES[adjective[0]] if adjective else None
    plural = rest.pop("plural", determiner in ("two", "three", "many"))
    return NounPhrase(NOUNS[noun], determiner.strip("-"), plural, chosen, **rest)


def say(subject, verb, direct=None, **rest):
    """A clause; plain strings become noun phrases."""
    read = {
        key: phrase(value) if key == "indirect" and isinstance(value, str) else value for key, value in rest.items()
    }
    subject = phrase(subject) if isinstance(subject, str) else subject
    return Clause(subject, verb, direct=phrase(direct) if isinstance(direct, str) else direct, **read)


def gap(words, **rest):
    """The gap of a relative clause about the noun phrase."""
    head = phrase(words, **rest)
    return Gap("relative", head.noun, head.plural)


WHO, WHAT, WHERE, WHITHER, WHY = (Gap(kind) for kind in ("person", "thing", "place", "goal", "reason"))

STATEMENTS = [
    (say("the old man", VERB["give"], "a red apple", indirect="the child"),
     "The old man gives the child a red apple.", "Der alte Mann gibt dem Kind einen roten Apfel."),
    (say("the boy", VERB["give"], "the key", indirect="my neighbour", recipient_last=True),
     "The boy gives the key to my neighbour.", "Der Junge gibt meinem Nachbarn den Schlüssel."),
    (say(SHE, VERB["show"], "our garden", indirect=ME, tense="past"),
     "She showed me our garden.", "Sie hat mir unseren Garten gezeigt."),
    (say("the woman", VERB["open"], "the window"),
     "The woman opens the window.", "Die Frau macht das Fenster auf."),
    (say("the woman", VERB["open"], "the window", tense="past"),
     "The woman opened the window.", "Die Frau hat das Fenster aufgemacht."),
    (say("the woman", VERB["open"], "the window", tense="want"),
     "The woman wants to open the window.", "Die Frau will das Fenster aufmachen."),
    (say(HE, VERB["pick up"], "his sister", place=location("from_station")),
     "He picks up his sister from the station.", "Er holt seine Schwester vom Bahnhof ab."),
    (say("the child", ALONE["fall asleep"], tense="past", place=location("bus")),
     "The child fell asleep on the bus.", "Das Kind ist im Bus eingeschlafen."),
    (say(THEY, GO, tense="past", place=HOME), "They went home.", "Sie sind nach Hause gegangen."),
    (say("my aunt", TRAVEL, place=goal("city"), instrument=INSTRUMENTS["train"], tense="future"),
     "My aunt will travel to the city by train.", "Meine Tante wird mit dem Zug in die Stadt fahren."),
    (say(ME, GO, place=visit(NOUNS["doctor"], "the"), tense="must"),
     "I must go to the doctor.", "Ich muss zur Ärztin gehen."),
    (say("the student", VERB["drink"], "- cold milk", tense="past"),
     "The student drank cold milk.", "Der Student hat kalte Milch getrunken."),
    (say("the farmer", VERB["eat"], "- fresh bread"),
     "The farmer eats fresh bread.", "Der Bauer isst frisches Brot."),
    (say(WE, VERB["drink"], "- cold tea"), "We drink cold tea.", "Wir trinken kalten Tee."),
    (say("the man", VERB["buy"], "a car", negated=True),
     "The man does not buy a car.", "Der Mann kauft kein Auto."),
    (say(ANNA, VERB["eat"], "- fish", negated=True), "Anna does not eat fish.", "Anna isst keinen Fisch."),
    (say("the teacher", VERB["read"], "the letter", negated=True, tense="past"),
     "The teacher did not read the letter.", "Der Lehrer hat den Brief nicht gelesen."),
    (say("the girl", VERB["open"], "the door", negated=True),
     "The girl does not open the door.", "Das Mädchen macht die Tür nicht auf."),
    (say("the girl", GO, negated=True, place=goal("forest")),
     "The girl does not go into the forest.", "Das Mädchen geht nicht in den Wald."),
    (say(phrase("the boy", plural=True), VERB["carry"], "the box", negated=True, tense="must"),
     "The boys must not carry the box.", "Die Jungen dürfen die Kiste nicht tragen."),
    (say(PETER, VERB["visit"], "his grandmother", negated=True, tense="can", time=WHEN["today"]),
     "Peter cannot visit his grandmother today.", "Peter kann seine Großmutter heute nicht besuchen."),
    (say(ME, VERB["wait for"], "the bus", negated=True), "I do not wait for the bus.", "Ich warte nicht auf den Bus."),
    (say("my brother", VERB["help"], "the old woman", frequency=OFTEN["often"]),
     "My brother often helps the old woman.", "Mein Bruder hilft oft der alten Frau."),
    (say("the cat", VERB["drink"], "- water", frequency=OFTEN["never"]),
     "The cat never drinks water.", "Die Katze trinkt nie Wasser."),
    (say("the child", VERB["read"], phrase("- book", plural=True), tense="like"),
     "The child likes to read books.", "Das Kind liest gern Bücher."),
    (say("my uncle", ALONE["work"], tense="like", negated=True, place=location("garden")),
     "My uncle does not like to work in the garden.", "Mein Onkel arbeitet nicht gern im Garten."),
    (say(HE, VERB["know"], HE), "He knows him.", "Er kennt ihn."),
    (say("the dog", VERB["follow"], THEY, tense="past"), "The dog followed them.", "Der Hund ist ihnen gefolgt."),
    (say("the house", VERB["belong to"], "my old uncle"),
     "The house belongs to my old uncle.", "Das Haus gehört meinem alten Onkel."),
    (say(WE, VERB["talk to"], phrase("two small child", plural=True), tense="past"),
     "We talked to two small children.", "Wir haben mit zwei kleinen Kindern gesprochen."),
    (say(SHE, PUT_FLAT, "the key", place=beside("in", phrase("her bag"), goal=True)),
     "She puts the key into her bag.", "Sie legt den Schlüssel in ihre Tasche."),
    (say("the key", LIE, place=beside("in", phrase("my bag"), goal=False)),
     "The key lies in my bag.", "Der Schlüssel liegt in meiner Tasche."),
    (say(HE, PUT_UPRIGHT, "the empty cup", place=beside("on", phrase("the table"), goal=True), tense="past"),
     "He put the empty cup on the table.", "Er hat die leere Tasse auf den Tisch gestellt."),
    (say("two car", STAND, place=beside("in front of", phrase("the house"), goal=False)),
     "Two cars stand in front of the house.", "Zwei Autos stehen vor dem Haus."),
    (say(Both(phrase("the man"), phrase("the woman")), ALONE["dance"], manner=MANNERS["slowly"],
         place=location("park")),
     "The man and the woman dance slowly in the park.", "Der Mann und die Frau tanzen langsam im Park."),
    (say("the girl", VERB["write"], "a long letter", place=location("garden"), tense="past"),
     "The girl wrote a long letter in the garden.", "Das Mädchen hat im Garten einen langen Brief geschrieben."),
    (say("the girl", VERB["love"], phrase("- horse", owner=phrase("the boy"))),
     "The girl loves the boy's horse.", "Das Mädchen liebt das Pferd des Jungen."),
    (say("the man", VERB["wash"], phrase("- old car", owner=phrase("my brother"))),
     "The man washes my brother's old car.", "Der Mann wäscht das alte Auto meines Bruders."),
    (say("this tower", BE, predicate=Predicate(ADJECTIVES["tall"], than=phrase("our church"))),
     "This tower is taller than our church.", "Dieser Turm ist höher als unsere Kirche."),
    (say("the weather", BE, tense="past", negated=True, predicate=Predicate(ADJECTIVES["good"], "very")),
     "The weather was not very good.", "Das Wetter war nicht sehr gut."),
]  # fmt: skip

OTHERS = [
    (Statement(say("the woman", VERB["find"], "her key", tense="past", time=WHEN["yesterday"]), time_first=True),
     "Yesterday the woman found her key.", "Gestern hat die Frau ihren Schlüssel gefunden."),
    (Statement(say(HE, ALONE["get up"], time=WHEN["every day"], manner=MANNERS["early"]), time_first=True),
     "Every day he gets up early.", "Jeden Tag steht er früh auf."),
    (Statement(say("my mother", VERB["read"], "the newspaper", time=WHEN["in the evening"])),
     "My mother reads the newspaper in the evening.", "Meine Mutter liest am Abend die Zeitung."),
    (Question(say("the old man", VERB["read"], "the book")),
     "Does the old man read the book?", "Liest der alte Mann das Buch?"),
    (Question(say(phrase("the child", plural=True), VERB["close"], "the door", tense="past")),
     "Did the children close the door?", "Haben die Kinder die Tür zugemacht?"),
    (Question(say(THEY, BE, predicate=Predicate(ADJECTIVES["tired"]))), "Are they tired?", "Sind sie müde?"),
    (Question(say(WHO, VERB["help"], "the child"), WHO), "Who helps the child?", "Wer hilft dem Kind?"),
    (Question(say("the child", VERB["help"], WHO), WHO), "Who does the child help?", "Wem hilft das Kind?"),
    (Question(say("the girl", VERB["invite"], WHO, tense="past"), WHO),
     "Who did the girl invite?", "Wen hat das Mädchen eingeladen?"),
    (Question(say("the girl", VERB["wait for"], WHO), WHO),
     "Who does the girl wait for?", "Auf wen wartet das Mädchen?"),
    (Question(say("the boy", VERB["buy"], WHAT, tense="want"), WHAT),
     "What does the boy want to buy?", "Was will der Junge kaufen?"),
    (Question(say(SHE, ALONE["live"], place=WHERE), WHERE), "Where does she live?", "Wo wohnt sie?"),
    (Question(say(SHE, GO, place=WHITHER), WHITHER), "Where does she go?", "Wohin geht sie?"),
    (Question(say(WE, STAY, place=AT_HOME, tense="must"), WHY), "Why must we stay at home?",
     "Warum müssen wir zu Hause bleiben?"),
    (Question(say("the student", VERB["read"], "which old book", tense="past")),
     "Which old book did the student read?", "Welches alte Buch hat der Student gelesen?"),
    (Question(say("the teacher", VERB["buy"], "which hat")),
     "Which hat does the teacher buy?", "Welchen Hut kauft der Lehrer?"),
    (Subordination(say("the man", ALONE["sleep"]), "because", say(HE, BE, predicate=Predicate(ADJECTIVES["tired"]))),
     "The man sleeps because he is tired.", "Der Mann schläft, weil er müde ist."),
    (Subordination(say(WE, STAY, place=AT_HOME), "if", say(PRONOUNS["it_n"], RAIN), subordinate_first=True),
     "If it rains, we stay at home.", "Wenn es regnet, bleiben wir zu Hause."),
    (Subordination(say(HE, ALONE["sing"], tense="past"), "when",
                   say("my uncle", BE, tense="past", predicate=Predicate(ADJECTIVES["happy"])), subordinate_first=True),
     "When my uncle was happy, he sang.", "Als mein Onkel glücklich war, hat er gesungen."),
    (Subordination(say(ANNA, VERB["buy"], "the coat"), "although",
                   say(PRONOUNS["it_m"], BE, predicate=Predicate(ADJECTIVES["expensive"], "too"))),
     "Anna buys the coat although it is too expensive.", "Anna kauft den Mantel, obwohl er zu teuer ist."),
    (Subordination(say(SHE, VERB["drink"], "- tea"), "before", say(SHE, VERB["turn off"], "the lamp")),
     "She drinks tea before she turns off the lamp.", "Sie trinkt Tee, bevor sie die Lampe ausmacht."),
    (Subordination(say("the boy", VERB["sing"], "a song", tense="past"), "while",
                   say("his father", VERB["cook"], "the soup", tense="past")),
     "The boy sang a song while his father cooked the soup.",
     "Der Junge hat ein Lied gesungen, während sein Vater die Suppe gekocht hat."),
    (Subordination(say("the teacher", SAY), "that", say("the boy", VERB["open"], "the window", tense="past")),
     "The teacher says that the boy opened the window.", "Der Lehrer sagt, dass der Junge das Fenster aufgemacht hat."),
    (Subordination(say(THEY, HOPE), "that", say("the train", ALONE["arrive"], time=WHEN["today"])),
     "They hope that the train arrives today.", "Sie hoffen, dass der Zug heute ankommt."),
    (Subordination(say(ME, KNOW_THAT, negated=True), "whether", say(HE, GO, place=HOME, tense="want")),
     "I do not know whether he wants to go home.", "Ich weiß nicht, ob er nach Hause gehen will."),
    (Subordination(say(SHE, ASK), "", say("the dog", ALONE["sleep"], place=WHERE), gap=WHERE),
     "She asks where the dog sleeps.", "Sie fragt, wo der Hund schläft."),
    (Statement(say("the man", TRY, tense="past", complement=say(None, VERB["open"], "the old door"))),
     "The man tried to open the old door.", "Der Mann hat versucht, die alte Tür aufzumachen."),
    (Statement(say("my sister", FORGET_TO, complement=say(None, VERB["thank"], "her aunt"))),
     "My sister forgets to thank her aunt.", "Meine Schwester vergisst, ihrer Tante zu danken."),
    (Statement(say("the child", GO, place=goal("kitchen"), purpose=True,
                   complement=say(None, VERB["drink"], "- milk"))),
     "The child goes into the kitchen to drink milk.", "Das Kind geht in die Küche, um Milch zu trinken."),
    (Coordination(say("the father", VERB["bake"], "a cake"), "and", say("the mother", ALONE["laugh"])),
     "The father bakes a cake and the mother laughs.", "Der Vater backt einen Kuchen und die Mutter lacht."),
    (Coordination(say("the boy", ALONE["sing"]), "but", say("the girl", ALONE["sing"], negated=True)),
     "The boy sings, but the girl does not sing.", "Der Junge singt, aber das Mädchen singt nicht."),
    (Existence(phrase("a old church"), location("village")),
     "There is an old church in the village.", "Im Dorf gibt es eine alte Kirche."),
    (Existence(phrase("no bridge"), location("park")),
     "There is no bridge in the park.", "Im Park gibt es keine Brücke."),
    (Statement(say(phrase("the woman", relative=say(gap("the woman"), ALONE["live"], place=location("city"))),
                   VERB["buy"], "a horse")),
     "The woman who lives in the city buys a horse.", "Die Frau, die in der Stadt wohnt, kauft ein Pferd."),
    (Statement(say("the teacher", VERB["know"], phrase("the boy", relative=say(ME, VERB["help"], gap("the boy"))))),
     "The teacher knows the boy whom I help.", "Der Lehrer kennt den Jungen, dem ich helfe."),
    (Statement(say(WE, VERB["see"], phrase("the train", relative=say(SHE, VERB["wait for"], gap("the train"))),
                   tense="past")),
     "We saw the train that she waits for.", "Wir haben den Zug gesehen, auf den sie wartet."),
    (Statement(say(phrase("the child", plural=True, relative=say("my aunt", VERB["thank"], gap("two child"))),
                   BE, predicate=Predicate(ADJECTIVES["friendly"]))),
     "The children whom my aunt thanks are friendly.", "Die Kinder, denen meine Tante dankt, sind freundlich."),
]  # fmt: skip

HAND_CHECKED = [(Statement(clause), source, target) for clause, source, target in STATEMENTS] + OTHERS


@pytest.mark.parametrize(("sentence", "source", "target"), HAND_CHECKED, ids=[source for _, source, _ in HAND_CHECKED])
def test_translation_by_hand(sentence, source, target):
    assert english.realise(sentence) == source
    assert german.realise(sentence) == target


# Nominative, accusative, dative, genitive.
DECLENSION = {
    ("the old man", False): "der alte Mann, den alten Mann, dem alten Mann, des alten Mannes",
    ("the old woman", False): "die alte Frau, die alte Frau, der alten Frau, der alten Frau",
    ("the small child", False): "das kleine Kind, das kleine Kind, dem kleinen Kind, des kleinen Kindes",
    ("the old man", True): "die alten Männer, die alten Männer, den alten Männern, der alten Männer",
    ("a young teacher", False): "ein junger Lehrer, einen jungen Lehrer, einem jungen Lehrer, eines jungen Lehrers",
    ("my tired father", False): "mein müder Vater, meinen müden Vater, meinem müden Vater, meines müden Vaters",
    ("our sick aunt", False): "unsere kranke Tante, unsere kranke Tante, unserer kranken Tante, unserer kranken Tante",
    ("his good friend", True): "seine guten Freunde, seine guten Freunde, seinen guten Freunden, seiner guten Freunde",
    ("a small girl", False): "ein kleines Mädchen, ein kleines Mädchen, einem kleinen Mädchen, eines kleinen Mädchens",
    ("this boy", False): "dieser Junge, diesen Jungen, diesem Jungen, dieses Jungen",
    ("the student", False): "der Student, den Studenten, dem Studenten, des Studenten",
    ("the neighbour", False): "der Nachbar, den Nachbarn, dem Nachbarn, des Nachbarn",
    ("the policeman", False): "der Polizist, den Polizisten, dem Polizisten, des Polizisten",
    ("the farmer", False): "der Bauer, den Bauern, dem Bauern, des Bauern",
    ("three young doctor", True): "drei junge Ärztinnen, drei junge Ärztinnen, drei jungen Ärztinnen",
    ("many red apple", True): "viele rote Äpfel, viele rote Äpfel, vielen roten Äpfeln",
    ("- warm milk", False): "warme Milch, warme Milch, warmer Milch",
    ("- cold coffee", False): "kalter Kaffee, kalten Kaffee, kaltem Kaffee",
    ("- fresh bread", False): "frisches Brot, frisches Brot, frischem Brot",
    ("a tall tower", False): "ein hoher Turm, einen hohen Turm, einem hohen Turm",
    ("the dark forest", False): "der dunkle Wald, den dunklen Wald, dem dunklen Wald",
    ("a expensive car", False): "ein teures Auto, ein teures Auto, einem teuren Auto",
    ("the old car", True): "die alten Autos, die alten Autos, den alten Autos",
    ("no new bicycle", True): "keine neuen Fahrräder, keine neuen Fahrräder, keinen neuen Fahrrädern",
}


@pytest.mark.parametrize(("words", "plural"), DECLENSION, ids=str)
def test_declension_by_hand(words, plural):
    declined = phrase(words, plural=plural)
    forms = DECLENSION[words, plural].split(", ")
    cases = ("nom", "acc", "dat", "gen")[: len(forms)]
    assert [" ".join(noun_phrase(declined, case)) for case in cases] == forms
