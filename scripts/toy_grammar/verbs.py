"""The verbs: English forms, German forms, and what each takes as subject, object, place and manner.

Traits: `specific` (the object is one that both speaker and hearer know: the, my, this), `present` (states, which the
German perfect suits badly), `animate_pronouns` (the object may be a personal pronoun), `activity` (may stand in "goes
to the park to ..."), `plural` (an indefinite object is more natural in the plural).
"""

from __future__ import annotations

from toy_grammar.words import Verb


def _forms(english: str, german: str) -> dict[str, tuple[str, str, str]]:
    base, third, past = (form.replace("_", " ") for form in english.split())
    infinitive, third_german, participle = german.split()
    return {"forms": (base, third, past), "german": (infinitive, third_german, participle)}


def _verb(english: str, german: str, frame: str, **rest: object) -> Verb:
    """Words of `objects`, `subjects`, `places`, `manners`, `traits` in one string each."""
    lists = {key: tuple(value.split()) if isinstance(value, str) else value for key, value in rest.items()}
    for text in ("prefix", "auxiliary"):
        if text in rest:
            lists[text] = rest[text]
    return Verb(**_forms(english, german), frame=frame, **lists)  # type: ignore[arg-type]


BE = _verb("be is was", "sein ist gewesen", "copula")
HAVE = _verb("have has had", "haben hat gehabt", "transitive", objects="pet horse own_vehicle garden house clock")
STAY = _verb("stay stays stayed", "bleiben bleibt geblieben", "position", auxiliary="sein")
GO = _verb("go goes went", "gehen geht gegangen", "motion", auxiliary="sein")
RUN = _verb(
    "run runs ran",
    "laufen läuft gelaufen",
    "motion",
    subjects="young_person pet horse",
    auxiliary="sein",
    manners="quickly slowly",
)
TRAVEL = _verb("travel travels travelled", "fahren fährt gefahren", "motion", auxiliary="sein")
PUT_FLAT = _verb("put puts put", "legen legt gelegt", "put", objects="flat", traits="specific")
PUT_UPRIGHT = _verb(
    "put puts put", "stellen stellt gestellt", "put", objects="upright container chair", traits="specific"
)
LIE = _verb("lie lies lay", "liegen liegt gelegen", "position", subjects="flat", traits="present")
STAND = _verb(
    "stand stands stood",
    "stehen steht gestanden",
    "position",
    subjects="upright bottle box chair vehicle",
    traits="present",
)
SIT = _verb("sit sits sat", "sitzen sitzt gesessen", "position", subjects="person pet bird")
RAIN = _verb("rain rains rained", "regnen regnet geregnet", "weather")
SHINE = _verb("shine shines shone", "scheinen scheint geschienen", "weather")
TRY = _verb("try tries tried", "versuchen versucht versucht", "infinitive")
FORGET_TO = _verb("forget forgets forgot", "vergessen vergisst vergessen", "infinitive")
HOPE_TO = _verb("hope hopes hoped", "hoffen hofft gehofft", "infinitive")

SAY = _verb("say says said", "sagen sagt gesagt", "report")
THINK = _verb("think thinks thought", "glauben glaubt geglaubt", "report")
HOPE = _verb("hope hopes hoped", "hoffen hofft gehofft", "report")
KNOW_THAT = _verb("know knows knew", "wissen weiß gewusst", "report")
ASK = _verb("ask asks asked", "fragen fragt gefragt", "report")

INTRANSITIVE = (
    _verb(
        "sleep sleeps slept",
        "schlafen schläft geschlafen",
        "intransitive",
        subjects="person pet horse cow bird",
        places="garden room house",
        manners="well",
        traits="activity",
    ),
    _verb(
        "work works worked",
        "arbeiten arbeitet gearbeitet",
        "intransitive",
        subjects="adult parent",
        places="garden school museum city kitchen market station",
        manners="slowly well",
    ),
    _verb(
        "play plays played",
        "spielen spielt gespielt",
        "intransitive",
        subjects="young_person sibling pet",
        places="garden park forest street river room",
        manners="quietly",
        traits="activity",
    ),
    _verb(
        "sing sings sang",
        "singen singt gesungen",
        "intransitive",
        subjects="person bird",
        places="church garden park school forest",
        manners="loudly quietly well",
        traits="activity",
    ),
    _verb(
        "dance dances danced",
        "tanzen tanzt getanzt",
        "intransitive",
        places="park garden street kitchen",
        manners="slowly well",
        traits="activity",
    ),
    _verb("laugh laughs laughed", "lachen lacht gelacht", "intransitive", manners="loudly quietly"),
    _verb(
        "cook cooks cooked",
        "kochen kocht gekocht",
        "intransitive",
        subjects="adult parent old_kin",
        places="kitchen",
        manners="well",
    ),
    _verb("live lives lived", "wohnen wohnt gewohnt", "home", places="city village house river forest"),
    _verb(
        "arrive arrives arrived",
        "kommen kommt gekommen",
        "arrival",
        prefix="an",
        auxiliary="sein",
        subjects="person public ship",
        places="station city village",
        manners="late early",
    ),
    _verb(
        "depart departs departed",
        "fahren fährt gefahren",
        "arrival",
        prefix="ab",
        auxiliary="sein",
        subjects="public ship",
        manners="late early",
    ),
    _verb(
        "get_up gets_up got_up",
        "stehen steht gestanden",
        "intransitive",
        prefix="auf",
        auxiliary="sein",
        manners="early late slowly",
    ),
    _verb(
        "fall_asleep falls_asleep fell_asleep",
        "schlafen schläft geschlafen",
        "intransitive",
        prefix="ein",
        auxiliary="sein",
        subjects="person pet",
        places="garden bus",
        manners="late quickly",
    ),
)

TRANSITIVE = (
    _verb(
        "eat eats ate",
        "essen isst gegessen",
        "transitive",
        objects="food",
        places="kitchen garden park",
        traits="activity",
    ),
    _verb(
        "drink drinks drank",
        "trinken trinkt getrunken",
        "transitive",
        objects="drink",
        places="kitchen garden",
        traits="activity",
    ),
    _verb(
        "read reads read",
        "lesen liest gelesen",
        "transitive",
        objects="reading",
        places="garden park room school kitchen",
        traits="activity",
    ),
    _verb(
        "write writes wrote",
        "schreiben schreibt geschrieben",
        "transitive",
        objects="letter story book song",
        places="room kitchen garden",
        traits="activity",
    ),
    _verb(
        "buy buys bought",
        "kaufen kauft gekauft",
        "transitive",
        objects="food drink book newspaper ware own_vehicle flower horse",
        places="market city village",
    ),
    _verb(
        "sell sells sold",
        "verkaufen verkauft verkauft",
        "transitive",
        objects="ware own_vehicle house flower horse cow fruit egg cake",
        subjects="adult",
        places="market city",
    ),
    _verb(
        "see sees saw",
        "sehen sieht gesehen",
        "transitive",
        objects="person animal vehicle tower tree church mountain bridge river",
        traits="animate_pronouns",
    ),
    _verb("find finds found", "finden findet gefunden", "transitive", objects="small flat bag pet", traits="specific"),
    _verb(
        "look_for looks_for looked_for",
        "suchen sucht gesucht",
        "transitive",
        objects="small flat bag pet young_person near",
        traits="specific animate_pronouns",
    ),
    _verb(
        "love loves loved",
        "lieben liebt geliebt",
        "transitive",
        objects="kin pet horse child garden city",
        traits="specific present animate_pronouns",
    ),
    _verb(
        "visit visits visited",
        "besuchen besucht besucht",
        "transitive",
        objects="kin near museum city church school village",
        traits="specific animate_pronouns",
    ),
    _verb(
        "know knows knew",
        "kennen kennt gekannt",
        "transitive",
        objects="person story song book city",
        traits="specific present animate_pronouns",
    ),
    _verb(
        "open opens opened",
        "machen macht gemacht",
        "transitive",
        objects="opening bottle box bag",
        prefix="auf",
        traits="specific",
    ),
    _verb(
        "close closes closed",
        "machen macht gemacht",
        "transitive",
        objects="opening bottle box bag",
        prefix="zu",
        traits="specific",
    ),
    _verb(
        "pick_up picks_up picked_up",
        "holen holt geholt",
        "transitive",
        objects="young_person kin near",
        prefix="ab",
        places="from_station from_school",
        traits="specific",
    ),
    _verb(
        "call calls called",
        "rufen ruft gerufen",
        "transitive",
        objects="doctor kin near policeman",
        prefix="an",
        traits="specific animate_pronouns",
    ),
    _verb(
        "invite invites invited",
        "laden lädt geladen",
        "transitive",
        objects="person",
        prefix="ein",
        traits="specific animate_pronouns",
    ),
    _verb("put_on puts_on put_on", "ziehen zieht gezogen", "transitive", objects="clothes", prefix="an"),
    _verb(
        "turn_off turns_off turned_off",
        "machen macht gemacht",
        "transitive",
        objects="lamp",
        prefix="aus",
        traits="specific",
    ),
    _verb(
        "tidy_up tidies_up tidied_up",
        "räumen räumt geräumt",
        "transitive",
        objects="room kitchen house",
        prefix="auf",
        traits="specific",
    ),
    _verb(
        "wash washes washed",
        "waschen wäscht gewaschen",
        "transitive",
        objects="car dog dress shirt apple",
        places="garden",
    ),
    _verb(
        "clean cleans cleaned",
        "putzen putzt geputzt",
        "transitive",
        objects="opening lamp kitchen bicycle",
        traits="specific",
    ),
    _verb(
        "repair repairs repaired",
        "reparieren repariert repariert",
        "transitive",
        objects="vehicle clock chair lamp door table bed",
        places="garden street station",
        subjects="adult parent student",
    ),
    _verb("cook cooks cooked", "kochen kocht gekocht", "transitive", objects="soup egg fish", places="kitchen"),
    _verb("bake bakes baked", "backen backt gebacken", "transitive", objects="cake bread", places="kitchen"),
    _verb(
        "paint paints painted",
        "malen malt gemalt",
        "transitive",
        objects="picture tree horse bird flower ship mountain",
        places="garden park school",
        traits="activity",
    ),
    _verb(
        "sing sings sang",
        "singen singt gesungen",
        "transitive",
        objects="song",
        places="church school park",
        traits="activity",
    ),
    _verb("hear hears heard", "hören hört gehört", "transitive", objects="song dog bird train child"),
    _verb(
        "carry carries carried",
        "tragen trägt getragen",
        "transitive",
        objects="bag box chair table bottle",
        traits="specific",
    ),
    _verb(
        "build builds built",
        "bauen baut gebaut",
        "transitive",
        objects="house ship bridge tower church",
        subjects="adult parent",
    ),
    _verb(
        "forget forgets forgot",
        "vergessen vergisst vergessen",
        "transitive",
        objects="key bag hat coat letter",
        traits="specific",
    ),
    _verb(
        "lose loses lost",
        "verlieren verliert verloren",
        "transitive",
        objects="key hat ball bag letter",
        traits="specific",
    ),
    _verb(
        "need needs needed",
        "brauchen braucht gebraucht",
        "transitive",
        objects="key lamp chair bed coat bicycle water doctor",
    ),
    HAVE,
)

OBLIQUE = (
    _verb(
        "help helps helped",
        "helfen hilft geholfen",
        "dative",
        objects="person",
        preposition=("", "dat"),
        places="garden kitchen",
        traits="specific animate_pronouns",
    ),
    _verb(
        "thank thanks thanked",
        "danken dankt gedankt",
        "dative",
        objects="person",
        preposition=("", "dat"),
        traits="specific animate_pronouns",
    ),
    _verb(
        "answer answers answered",
        "antworten antwortet geantwortet",
        "dative",
        objects="person",
        preposition=("", "dat"),
        traits="specific animate_pronouns",
    ),
    _verb(
        "follow follows followed",
        "folgen folgt gefolgt",
        "dative",
        objects="person pet",
        subjects="person dog",
        preposition=("", "dat"),
        auxiliary="sein",
        traits="specific animate_pronouns",
    ),
    _verb(
        "belong_to belongs_to belonged_to",
        "gehören gehört gehört",
        "dative",
        objects="person",
        subjects="ware own_vehicle house pet horse garden",
        preposition=("", "dat"),
        traits="specific present",
    ),
    _verb(
        "wait_for waits_for waited_for",
        "warten wartet gewartet",
        "prepositional",
        objects="person public letter",
        preposition=("auf", "acc"),
        places="station park",
        traits="specific animate_pronouns",
    ),
    _verb(
        "talk_to talks_to talked_to",
        "sprechen spricht gesprochen",
        "prepositional",
        objects="person",
        preposition=("mit", "dat"),
        places="street park garden",
        traits="specific animate_pronouns",
    ),
    _verb(
        "think_of thinks_of thought_of",
        "denken denkt gedacht",
        "prepositional",
        objects="kin near child",
        preposition=("an", "acc"),
        traits="specific animate_pronouns",
    ),
    _verb(
        "play_with plays_with played_with",
        "spielen spielt gespielt",
        "prepositional",
        objects="ball pet",
        subjects="young_person sibling",
        preposition=("mit", "dat"),
        places="garden park street",
        traits="activity",
    ),
    _verb(
        "dream_of dreams_of dreamed_of",
        "träumen träumt geträumt",
        "prepositional",
        objects="ship house horse garden car",
        preposition=("von", "dat"),
        traits="indefinite",
    ),
)

DITRANSITIVE = (
    _verb(
        "give gives gave", "geben gibt gegeben", "ditransitive", objects="fruit cake egg flower key book ball cup hat"
    ),
    _verb(
        "show shows showed",
        "zeigen zeigt gezeigt",
        "ditransitive",
        objects="picture letter book garden house museum dress pet",
    ),
    _verb(
        "send sends sent", "schicken schickt geschickt", "ditransitive", objects="letter book picture newspaper flower"
    ),
    _verb(
        "bring brings brought",
        "bringen bringt gebracht",
        "ditransitive",
        objects="soup bread coffee tea milk flower chair newspaper coat bag",
    ),
    _verb("tell tells told", "erzählen erzählt erzählt", "ditransitive", objects="story"),
    _verb("lend lends lent", "leihen leiht geliehen", "ditransitive", objects="book own_vehicle coat clock bag"),
)
