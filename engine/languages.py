"""The languages Whisper knows, by its codes; names in English. Source: the list in openai/whisper's tokenizer.py."""

from __future__ import annotations

from engine.errors import Code, EngineError

AUTO = "auto"
# Speech may change the language that was found before when it is so long, and its own language so likely.
CLEAR_LANGUAGE_MS = 3_000
CLEAR_LANGUAGE = 0.8

_NAMES = """
af Afrikaans|sq Albanian|am Amharic|ar Arabic|hy Armenian|as Assamese|az Azerbaijani|ba Bashkir|eu Basque|be Belarusian
bn Bengali|bs Bosnian|br Breton|bg Bulgarian|ca Catalan|zh Chinese|hr Croatian|cs Czech|da Danish|nl Dutch
en English|et Estonian|fo Faroese|fi Finnish|fr French|gl Galician|ka Georgian|de German|el Greek|gu Gujarati
ht Haitian Creole|ha Hausa|haw Hawaiian|he Hebrew|hi Hindi|hu Hungarian|is Icelandic|id Indonesian|it Italian
ja Japanese|jw Javanese|kn Kannada|kk Kazakh|km Khmer|ko Korean|lo Lao|la Latin|lv Latvian|ln Lingala|lt Lithuanian
lb Luxembourgish|mk Macedonian|mg Malagasy|ms Malay|ml Malayalam|mt Maltese|mi Maori|mr Marathi|mn Mongolian|my Myanmar
ne Nepali|no Norwegian|nn Nynorsk|oc Occitan|ps Pashto|fa Persian|pl Polish|pt Portuguese|pa Punjabi|ro Romanian
ru Russian|sa Sanskrit|sr Serbian|sn Shona|sd Sindhi|si Sinhala|sk Slovak|sl Slovenian|so Somali|es Spanish
su Sundanese|sw Swahili|sv Swedish|tl Tagalog|tg Tajik|ta Tamil|tt Tatar|te Telugu|th Thai|bo Tibetan|tr Turkish
tk Turkmen|uk Ukrainian|ur Urdu|uz Uzbek|vi Vietnamese|cy Welsh|yi Yiddish|yo Yoruba
"""
# The same in ISO 639-2/T, which tracks of a film are marked with, in the order of the codes above.
_THREE_LETTERS = """
afr sqi amh ara hye asm aze bak eus bel ben bos bre bul cat zho hrv ces dan nld eng est fao fin fra glg kat deu ell guj
hat hau haw heb hin hun isl ind ita jpn jav kan kaz khm kor lao lat lav lin lit ltz mkd mlg msa mal mlt mri mar mon mya
nep nor nno oci pus fas pol por pan ron rus san srp sna snd sin slk slv som spa sun swa swe tgl tgk tam tat tel tha bod
tur tuk ukr urd uzb vie cym yid yor
"""


def _parsed() -> dict[str, str]:
    pairs = (entry.partition(" ") for line in _NAMES.strip().splitlines() for entry in line.split("|"))
    return {code: name for code, _space, name in pairs}


LANGUAGES: dict[str, str] = _parsed()  # in the order of their names
_ISO_639_2 = dict(zip(LANGUAGES, _THREE_LETTERS.split(), strict=True))
CANTONESE = "yue"  # only large-v3 and its turbo know it
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ps", "sd", "ur", "yi"})


def language_name(code: str) -> str:
    """The English name of a language, or the code itself when it is not Whisper's."""
    return "Cantonese" if code == CANTONESE else LANGUAGES.get(code, code)


def iso_639_2(code: str | None) -> str:
    """The three letters that films mark a track with; "und" (undetermined) for none and for what is not Whisper's."""
    return CANTONESE if code == CANTONESE else _ISO_639_2.get(code or "", "und")


def languages_of(model: str) -> dict[str, str]:
    """What a multilingual model of this name can be told to expect."""
    return {**LANGUAGES, CANTONESE: "Cantonese"} if model.startswith("large-v3") else LANGUAGES


def known_language(asked: str, multilingual: bool, found: str | None = None) -> str:
    """The language that an earlier run found, or that was asked for; "" when the speech itself has to tell.

    EngineError MODEL_CANNOT when it is not English and the model is English only.
    """
    known = found or ("" if asked == AUTO else asked)
    if multilingual:
        return known
    if known not in ("", "en"):
        raise EngineError(Code.MODEL_CANNOT, f"It understands English only, not {language_name(known)}.")
    return "en"
