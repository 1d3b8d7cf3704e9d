"""The verbs: English forms, German forms, and what each takes as subject, object, place and manner.

A line gives the frame, base, third person and past in English, infinitive, third person and participle in German, then
what the verb goes with. A separable prefix is set off by "+"; "ist_" marks the perfect with sein; `governs` names a
German preposition with its case, or a dash where the case alone is governed.

Traits: `specific` (the object is one that speaker and hearer know: the, my, this), `made` (the object is the subject's
own work), `worn` (one thing of the subject's own), `pronoun` (the object may be a personal pronoun), `activity` (goes on
for a while), `present` (a state, which the German perfect suits badly), `chance` (happens to people, so that nobody can,
must or wants to do it).
"""

from __future__ import annotations

from toy_grammar.words import Verb, rows

_INTRANSITIVE = """
intransitive | sleep sleeps slept | schlafen schläft geschlafen | subjects: person pet horse bird; places: garden
    room house; manners: well; traits: activity
intransitive | work works worked | arbeiten arbeitet gearbeitet | subjects: adult parent; places: garden school museum
    city kitchen market station; manners: slowly well
intransitive | play plays played | spielen spielt gespielt | subjects: young_person sibling pet; places: garden park
    forest room; manners: quietly; traits: activity
intransitive | sing sings sang | singen singt gesungen | subjects: person bird; places: church garden park school
    forest; manners: loudly quietly well; traits: activity
intransitive | dance dances danced | tanzen tanzt getanzt | places: park garden kitchen; manners: slowly well;
    traits: activity
intransitive | laugh laughs laughed | lachen lacht gelacht | manners: loudly quietly
intransitive | cook cooks cooked | kochen kocht gekocht | subjects: adult parent old_kin; places: kitchen; manners:
    well
home | live lives lived | wohnen wohnt gewohnt | places: city village house forest
arrival | arrive arrives arrived | an+kommen kommt ist_gekommen | subjects: person public; places: station city
    village; manners: late early
intransitive | get_up gets_up got_up | auf+stehen steht ist_gestanden | manners: early late slowly
intransitive | fall_asleep falls_asleep fell_asleep | ein+schlafen schläft ist_geschlafen | subjects: person pet;
    places: garden bus; manners: late quickly; traits: chance
"""

_TRANSITIVE = """
transitive | eat eats ate | essen isst gegessen | objects: food; places: kitchen garden park; traits: activity
transitive | drink drinks drank | trinken trinkt getrunken | objects: drink; places: kitchen garden; traits: activity
transitive | read reads read | lesen liest gelesen | objects: reading; places: garden park room school kitchen;
    traits: activity
transitive | write writes wrote | schreiben schreibt geschrieben | objects: letter story book song; places: room
    kitchen garden; traits: made activity
transitive | buy buys bought | kaufen kauft gekauft | objects: food drink book newspaper ware own_vehicle flower
    horse; places: market city village
transitive | sell sells sold | verkaufen verkauft verkauft | subjects: adult; objects: ware own_vehicle house flower
    horse fruit egg cake; places: market city
transitive | see sees saw | sehen sieht gesehen | objects: person animal vehicle tower tree church bridge
    ; traits: pronoun
transitive | find finds found | finden findet gefunden | objects: small flat bag pet; traits: specific chance
transitive | look_for looks_for looked_for | suchen sucht gesucht | objects: small flat bag pet young_person near;
    traits: specific pronoun
transitive | love loves loved | lieben liebt geliebt | objects: kin pet horse child garden city; traits: specific
    present pronoun
transitive | visit visits visited | besuchen besucht besucht | objects: kin near museum city church school village;
    traits: specific pronoun
transitive | know knows knew | kennen kennt gekannt | objects: person story song book city; traits: specific present
    pronoun
transitive | open opens opened | auf+machen macht gemacht | objects: opening bottle box bag; traits: specific
transitive | close closes closed | zu+machen macht gemacht | objects: opening bottle box bag; traits: specific
transitive | pick_up picks_up picked_up | ab+holen holt geholt | objects: young_person kin near; places: from_station
    from_school; traits: specific
transitive | call calls called | an+rufen ruft gerufen | objects: doctor kin near policeman; traits: specific pronoun
transitive | invite invites invited | ein+laden lädt geladen | objects: person; traits: specific pronoun
transitive | put_on puts_on put_on | an+ziehen zieht gezogen | objects: clothes; traits: worn
transitive | turn_off turns_off turned_off | aus+machen macht gemacht | objects: lamp; traits: specific
transitive | tidy_up tidies_up tidied_up | auf+räumen räumt geräumt | objects: room kitchen house; traits: specific
transitive | wash washes washed | waschen wäscht gewaschen | objects: car dog dress shirt apple; places: garden
transitive | repair repairs repaired | reparieren repariert repariert | subjects: adult parent student; objects:
    vehicle chair lamp door table bed; places: garden
transitive | cook cooks cooked | kochen kocht gekocht | objects: soup egg fish; places: kitchen; traits: made
transitive | bake bakes baked | backen backt gebacken | objects: cake bread; places: kitchen; traits: made
transitive | paint paints painted | malen malt gemalt | objects: picture tree horse bird flower ship; places:
    garden park school; traits: made activity
transitive | sing sings sang | singen singt gesungen | objects: song; places: church school park; traits: activity
transitive | carry carries carried | tragen trägt getragen | objects: bag box chair table bottle; traits: specific
transitive | forget forgets forgot | vergessen vergisst vergessen | objects: key bag hat coat letter; traits: specific
    chance
transitive | have has had | haben hat gehabt | objects: pet horse own_vehicle garden house
"""

_OBLIQUE = """
dative | help helps helped | helfen hilft geholfen | objects: person; governs: - dat; places: garden kitchen; traits:
    specific pronoun
dative | thank thanks thanked | danken dankt gedankt | objects: person; governs: - dat; traits: specific pronoun
dative | follow follows followed | folgen folgt ist_gefolgt | subjects: person dog; objects: person pet; governs: -
    dat; traits: specific pronoun
dative | belong_to belongs_to belonged_to | gehören gehört gehört | subjects: ware own_vehicle house pet horse garden;
    objects: person; governs: - dat; traits: specific present
prepositional | wait_for waits_for waited_for | warten wartet gewartet | objects: person public letter; governs: auf
    acc; places: station park; traits: specific pronoun
prepositional | talk_to talks_to talked_to | sprechen spricht gesprochen | objects: person; governs: mit dat; places:
    park garden; traits: specific pronoun
prepositional | think_of thinks_of thought_of | denken denkt gedacht | objects: kin near child; governs: an acc;
    traits: specific pronoun
prepositional | play_with plays_with played_with | spielen spielt gespielt | subjects: young_person sibling; objects:
    ball pet; governs: mit dat; places: garden park ; traits: activity
"""

_DITRANSITIVE = """
ditransitive | give gives gave | geben gibt gegeben | objects: fruit cake egg flower key book ball cup hat
ditransitive | show shows showed | zeigen zeigt gezeigt | objects: picture letter book garden house museum dress pet
ditransitive | send sends sent | schicken schickt geschickt | objects: letter book picture newspaper flower
ditransitive | bring brings brought | bringen bringt gebracht | objects: soup bread coffee tea milk flower chair
    newspaper coat bag
ditransitive | tell tells told | erzählen erzählt erzählt | objects: story
"""

# Verbs with sentences of their own, each under the name that the grammar knows it by.
_NAMED = """
BE | copula | be is was | sein ist gewesen
STAY | position | stay stays stayed | bleiben bleibt ist_geblieben
GO | motion | go goes went | gehen geht ist_gegangen
RUN | motion | run runs ran | laufen läuft ist_gelaufen | subjects: young_person pet horse; manners: quickly
TRAVEL | motion | travel travels travelled | fahren fährt ist_gefahren
PUT_FLAT | put | put puts put | legen legt gelegt | objects: flat; traits: specific
PUT_UPRIGHT | put | put puts put | stellen stellt gestellt | objects: upright container chair; traits: specific
LIE | position | lie lies lay | liegen liegt gelegen | subjects: flat; traits: present
STAND | position | stand stands stood | stehen steht gestanden | subjects: upright bottle box chair own_vehicle public; traits:
    present
SIT | position | sit sits sat | sitzen sitzt gesessen | subjects: person pet bird
RAIN | weather | rain rains rained | regnen regnet geregnet
SHINE | weather | shine shines shone | scheinen scheint geschienen
TRY | infinitive | try tries tried | versuchen versucht versucht
FORGET_TO | infinitive | forget forgets forgot | vergessen vergisst vergessen
HOPE_TO | infinitive | hope hopes hoped | hoffen hofft gehofft
SAY | report | say says said | sagen sagt gesagt
THINK | report | think thinks thought | glauben glaubt geglaubt
HOPE | report | hope hopes hoped | hoffen hofft gehofft
KNOW_THAT | report | know knows knew | wissen weiß gewusst
ASK | report | ask asks asked | fragen fragt gefragt
"""


def _verb(line: str) -> Verb:
    frame, english, german, *rest = (part.strip() for part in line.split("|"))
    base, third, past = (form.replace("_", " ") for form in english.split())
    infinitive, german_third, participle = german.split()
    prefix, plus, stem = infinitive.partition("+")
    company = dict(item.strip().split(": ") for item in rest[0].split(";")) if rest and rest[0] else {}
    lists = {key: tuple(words.split()) for key, words in company.items()}
    preposition, case = lists.pop("governs", ("", ""))
    return Verb(
        forms=(base, third, past),
        german=(stem if plus else infinitive, german_third, participle.removeprefix("ist_")),
        frame=frame,
        prefix=prefix if plus else "",
        auxiliary="sein" if participle.startswith("ist_") else "haben",
        preposition=(preposition.strip("-"), case) if case else None,
        **lists,
    )


def _verbs(table: str) -> tuple[Verb, ...]:
    return tuple(map(_verb, rows(table)))


INTRANSITIVE = _verbs(_INTRANSITIVE)
TRANSITIVE = _verbs(_TRANSITIVE)
OBLIQUE = _verbs(_OBLIQUE)
DITRANSITIVE = _verbs(_DITRANSITIVE)

_BY_NAME = {name.strip(): _verb(line) for name, _, line in (row.partition("|") for row in rows(_NAMED))}
BE, STAY, GO, RUN, TRAVEL = (_BY_NAME[name] for name in ("BE", "STAY", "GO", "RUN", "TRAVEL"))
PUT_FLAT, PUT_UPRIGHT = _BY_NAME["PUT_FLAT"], _BY_NAME["PUT_UPRIGHT"]
LIE, STAND, SIT = _BY_NAME["LIE"], _BY_NAME["STAND"], _BY_NAME["SIT"]
RAIN, SHINE = _BY_NAME["RAIN"], _BY_NAME["SHINE"]
TRY, FORGET_TO, HOPE_TO = _BY_NAME["TRY"], _BY_NAME["FORGET_TO"], _BY_NAME["HOPE_TO"]
SAY, THINK, HOPE, KNOW_THAT, ASK = (_BY_NAME[name] for name in ("SAY", "THINK", "HOPE", "KNOW_THAT", "ASK"))
