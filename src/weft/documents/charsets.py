"""The name of a character set in, as IANA has registered it; Python's codec for it out.

Python knows far more names: of codecs that are no character sets (rot13, hex, zlib), and of its own. A document that
was read by one of these here would be read otherwise, or not at all, by everybody else.
"""

from __future__ import annotations

#: By codec: the registered names and aliases that may stand in an XML declaration (letters, digits, `.`, `_`, `-`).
#: All of them leave ASCII as it is, so that the declaration itself can be read. UTF-7 is left out, as it gives a
#: document a second, hidden reading; EBCDIC and UTF-32 are left out, as a declaration in them is not one in ASCII.
_REGISTERED = {
    "ascii": "US-ASCII ANSI_X3.4-1968 ANSI_X3.4-1986 iso-ir-6 ISO646-US us IBM367 cp367 csASCII",
    "big5": "Big5 csBig5",
    "big5hkscs": "Big5-HKSCS csBig5HKSCS",
    "cp437": "IBM437 cp437 csPC8CodePage437",
    "cp775": "IBM775 cp775 csPC775Baltic",
    "cp850": "IBM850 cp850 csPC850Multilingual",
    "cp852": "IBM852 cp852 csPCp852",
    "cp855": "IBM855 cp855 csIBM855",
    "cp857": "IBM857 cp857 csIBM857",
    "cp858": "IBM00858 CCSID00858 CP00858 PC-Multilingual-850 csIBM00858",
    "cp860": "IBM860 cp860 csIBM860",
    "cp861": "IBM861 cp861 cp-is csIBM861",
    "cp862": "IBM862 cp862 csPC862LatinHebrew",
    "cp863": "IBM863 cp863 csIBM863",
    "cp865": "IBM865 cp865 csIBM865",
    "cp866": "IBM866 cp866 csIBM866",
    "cp869": "IBM869 cp869 cp-gr csIBM869",
    "cp874": "windows-874 cswindows874",
    "cp932": "Windows-31J csWindows31J",
    "cp1250": "windows-1250 cswindows1250",
    "cp1251": "windows-1251 cswindows1251",
    "cp1252": "windows-1252 cswindows1252",
    "cp1253": "windows-1253 cswindows1253",
    "cp1254": "windows-1254 cswindows1254",
    "cp1255": "windows-1255 cswindows1255",
    "cp1256": "windows-1256 cswindows1256",
    "cp1257": "windows-1257 cswindows1257",
    "cp1258": "windows-1258 cswindows1258",
    "euc_jp": "EUC-JP Extended_UNIX_Code_Packed_Format_for_Japanese csEUCPkdFmtJapanese",
    "euc_kr": "EUC-KR csEUCKR KS_C_5601-1987 KS_C_5601-1989 KSC_5601 iso-ir-149 korean csKSC56011987",
    "gb18030": "GB18030 csGB18030",
    "gb2312": "GB2312 csGB2312 GB_2312-80 iso-ir-58 chinese csISO58GB231280",
    "gbk": "GBK CP936 MS936 windows-936 csGBK",
    "hp_roman8": "hp-roman8 roman8 r8 csHPRoman8",
    "hz": "HZ-GB-2312",
    "iso2022_jp": "ISO-2022-JP csISO2022JP",
    "iso2022_jp_2": "ISO-2022-JP-2 csISO2022JP2",
    "iso2022_kr": "ISO-2022-KR csISO2022KR",
    "iso8859_1": "ISO-8859-1 ISO_8859-1 iso-ir-100 latin1 l1 IBM819 CP819 csISOLatin1",
    "iso8859_2": "ISO-8859-2 ISO_8859-2 iso-ir-101 latin2 l2 csISOLatin2",
    "iso8859_3": "ISO-8859-3 ISO_8859-3 iso-ir-109 latin3 l3 csISOLatin3",
    "iso8859_4": "ISO-8859-4 ISO_8859-4 iso-ir-110 latin4 l4 csISOLatin4",
    "iso8859_5": "ISO-8859-5 ISO_8859-5 iso-ir-144 cyrillic csISOLatinCyrillic",
    "iso8859_6": "ISO-8859-6 ISO_8859-6 iso-ir-127 ECMA-114 ASMO-708 arabic csISOLatinArabic",
    "iso8859_7": "ISO-8859-7 ISO_8859-7 iso-ir-126 ELOT_928 ECMA-118 greek greek8 csISOLatinGreek",
    "iso8859_8": "ISO-8859-8 ISO_8859-8 iso-ir-138 hebrew csISOLatinHebrew ISO-8859-8-I csISO88598I",
    "iso8859_9": "ISO-8859-9 ISO_8859-9 iso-ir-148 latin5 l5 csISOLatin5",
    "iso8859_10": "ISO-8859-10 iso-ir-157 l6 latin6 csISOLatin6",
    "iso8859_11": "ISO-8859-11 csTIS620",
    "iso8859_13": "ISO-8859-13 csISO885913",
    "iso8859_14": "ISO-8859-14 ISO_8859-14 iso-ir-199 latin8 iso-celtic l8 csISO885914",
    "iso8859_15": "ISO-8859-15 ISO_8859-15 Latin-9 csISO885915",
    "iso8859_16": "ISO-8859-16 ISO_8859-16 iso-ir-226 latin10 l10 csISO885916",
    "koi8_r": "KOI8-R csKOI8R",
    "koi8_u": "KOI8-U csKOI8U",
    "kz1048": "KZ-1048 STRK1048-2002 RK1048 csKZ1048",
    "mac_roman": "macintosh mac csMacintosh",
    "ptcp154": "PTCP154 csPTCP154 PT154 CP154 Cyrillic-Asian",
    "shift_jis": "Shift_JIS MS_Kanji csShiftJIS",
    "tis_620": "TIS-620",
    "utf_16": "UTF-16 csUTF16",
    "utf_16_be": "UTF-16BE csUTF16BE",
    "utf_16_le": "UTF-16LE csUTF16LE",
    "utf_8": "UTF-8 csUTF8 utf8",  # the last is not registered, and in thousands of feeds
}
_CODECS = {name.lower(): codec for codec, names in _REGISTERED.items() for name in names.split()}


def codec_of(name: str) -> str | None:
    """Python's codec for a character set by one of its registered names; None if there is none."""
    return _CODECS.get(name.lower())
