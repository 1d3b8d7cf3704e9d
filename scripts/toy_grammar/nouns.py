"""The nouns: English singular and plural, gender, German singular and plural, genitive or weak form, classes.

A dash stands for a form that the grammar never uses. `gen:` gives the genitive of a noun that may own things, `weak:`
the oblique singular of the n-declension.
"""

from __future__ import annotations

from functools import cache

from toy_grammar.words import Noun

_TABLE = """
man          men           m Mann       Männer      gen:Mannes      person adult
woman        women         f Frau       Frauen      -               person adult
child        children      n Kind       Kinder      gen:Kindes      person young_person
boy          boys          m Junge      Jungen      weak:Jungen     person young_person
girl         girls         n Mädchen    Mädchen     gen:Mädchens    person young_person
teacher      teachers      m Lehrer     Lehrer      gen:Lehrers     person adult near
doctor       doctors       f Ärztin     Ärztinnen   -               person adult
student      students      m Student    Studenten   weak:Studenten  person
neighbour    neighbours    m Nachbar    Nachbarn    weak:Nachbarn   person adult near
farmer       farmers       m Bauer      Bauern      weak:Bauern     person adult
policeman    policemen     m Polizist   Polizisten  weak:Polizisten person adult
friend       friends       m Freund     Freunde     gen:Freundes    person related near
mother       -             f Mutter     -           -               person related kin parent
father       -             m Vater      -           gen:Vaters      person related kin parent
brother      brothers      m Bruder     Brüder      gen:Bruders     person related kin sibling
sister       sisters       f Schwester  Schwestern  -               person related kin sibling
grandmother  -             f Großmutter -           -               person related kin old_kin
aunt         -             f Tante      -           -               person related kin
uncle        -             m Onkel      -           gen:Onkels      person related kin
dog          dogs          m Hund       Hunde       -               animal pet
cat          cats          f Katze      Katzen      -               animal pet
horse        horses        n Pferd      Pferde      -               animal
bird         birds         m Vogel      Vögel       -               animal
apple        apples        m Apfel      Äpfel       -               food fruit
egg          eggs          n Ei         Eier        -               food
cake         cakes         m Kuchen     Kuchen      -               food
fish         -             m Fisch      -           -               food mass
soup         soups         f Suppe      Suppen      -               food
bread        -             n Brot       -           -               food mass
milk         -             f Milch      -           -               drink mass
water        -             n Wasser     -           -               drink mass
tea          -             m Tee        -           -               drink mass
coffee       -             m Kaffee     -           -               drink mass
book         books         n Buch       Bücher      -               reading flat ware
letter       letters       m Brief      Briefe      -               reading flat
newspaper    newspapers    f Zeitung    Zeitungen   -               reading flat
story        stories       f Geschichte Geschichten -               reading
song         songs         n Lied       Lieder      -               -
picture      pictures      n Bild       Bilder      -               ware
hat          hats          m Hut        Hüte        -               clothes flat ware
coat         coats         m Mantel     Mäntel      -               clothes flat ware
dress        dresses       n Kleid      Kleider     -               flat ware
shirt        shirts        n Hemd       Hemden      -               clothes flat ware
key          keys          m Schlüssel  Schlüssel   -               small flat
ball         balls         m Ball       Bälle       -               small
flower       flowers       f Blume      Blumen      -               small
cup          cups          f Tasse      Tassen      -               upright ware
bottle       bottles       f Flasche    Flaschen    -               upright container
lamp         lamps         f Lampe      Lampen      -               upright ware
box          boxes         f Kiste      Kisten      -               container furniture
bag          bags          f Tasche     Taschen     -               container ware
window       windows       n Fenster    Fenster     -               opening
door         doors         f Tür        Türen       -               opening
table        tables        m Tisch      Tische      -               furniture ware
chair        chairs        m Stuhl      Stühle      -               furniture ware
bed          beds          n Bett       Betten      -               furniture
car          cars          n Auto       Autos       -               vehicle own_vehicle
bicycle      bicycles      n Fahrrad    Fahrräder   -               vehicle own_vehicle
bus          buses         m Bus        Busse       -               vehicle public
train        trains        m Zug        Züge        -               vehicle public
ship         ships         n Schiff     Schiffe     -               vehicle
house        houses        n Haus       Häuser      -               place building
garden       gardens       m Garten     Gärten      -               place
kitchen      kitchens      f Küche      Küchen      -               place indoors
room         rooms         n Zimmer     Zimmer      -               place indoors
school       schools       f Schule     Schulen     -               place building
city         cities        f Stadt      Städte      -               place
village      villages      n Dorf       Dörfer      -               place
forest       forests       m Wald       Wälder      -               place
park         parks         m Park       Parks       -               place
station      stations      m Bahnhof    Bahnhöfe    -               place building
market       -             m Markt      -           -               place
church       churches      f Kirche     Kirchen     -               place building
museum       museums       n Museum     Museen      -               place building
bridge       bridges       f Brücke     Brücken     -               place
tower        towers        m Turm       Türme       -               tall
tree         trees         m Baum       Bäume       -               tall
weather      -             n Wetter     -           -               sky
sun          -             f Sonne      -           -               sky
"""


def _noun(line: str) -> Noun:
    lemma, plural, gender, german, german_plural, form, *classes = line.split()
    kind, _, value = form.partition(":")
    return Noun(
        lemma=lemma,
        plural="" if plural == "-" else plural,
        gender=gender,
        german=german,
        german_plural="" if german_plural == "-" else german_plural,
        genitive=value if kind == "gen" else "",
        weak=value if kind == "weak" else "",
        classes=tuple(classes),
    )


NOUNS = {noun.lemma: noun for noun in map(_noun, _TABLE.strip().splitlines())}


@cache
def nouns_matching(names: tuple[str, ...]) -> tuple[Noun, ...]:
    """The nouns that `names` calls by name or by class, in the order of the table."""
    return tuple(noun for noun in NOUNS.values() if any(noun.is_a(name) for name in names))
