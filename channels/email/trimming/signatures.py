"""Signatures: the "-- " block, "Sent from my …", a mailing list's footer, a name after a dash."""

from __future__ import annotations

import re
from typing import Final

from channels.email.trimming.lines import head, is_blank
from channels.email.trimming.marks import is_rule

_LONGEST_BLOCK: Final = 15
"""A signature has no more lines than this; what is longer was written by the person."""

_LONGEST_LINE: Final = 160

_BRAND: Final = (
    r"(?:i ?phone|i ?pad|i ?pod|android|blackberry|samsung|galaxy|huawei|xiaomi|redmi|nokia|lumia|"
    r"pixel|htc|xperia|oneplus|motorola|mobile|mobil|smartphone|macbook|outlook|yahoo|gmail|k-9|"
    r"mailbox|airmail|acompli|spark|thunderbird|proton ?mail|proton|aquamail|zoho|newton|bluemail|"
    r"superhuman|canary|edison|boxer|polymail|mailspring|mailbird|fastmail|cloudmagic|mymail|aol|gmx|"
    r"web\.de|yandex|яндекс|mail\.ru|icloud|windows|verizon|t-mobile|at&t|vodafone|telekom)"
)
"""Names that only a program or a device has: people who say "sent by mail" or "sent by DHL" mean
their answer."""
_MINE: Final = (
    r"(?:my|meine[mr]|mon|ma|mi|meu|minha|mio|mia|mijn|min|mitt|mine|mojego|mojej|mého|mojho|моего|"
    r"моей|мого|моєї|el meu|dari)"
)
_OF: Final = rf"(?:.{{0,24}}\b{_BRAND}\b|.{{0,12}}\b{_MINE}\b ).{{0,60}}"
"""Somebody's device, or one by its name."""
_EXCUSE: Final = r"(?:[.,;!:)\s-]*(?:(?:please|pls|kindly|sorry|excuse|forgive|apolog)\b.{0,80})?)"

_PHRASES: Final = (
    # English. "Sent from my desk, is much easier …" goes on after the comma, and is a sentence.
    (
        rf"sent (?:from|via|by|using|with|on) (?:my |a |an |the )?[\w\-'& ]{{0,24}}\b{_BRAND}\b"
        rf"[^,;!?]{{0,60}}?{_EXCUSE}"
    ),
    rf"sent from my [\w-]+(?: [\w-]+){{0,2}}{_EXCUSE}",
    r"sent from (?:a|the) (?:phone|cell|tablet|mobile device)",
    r"sent from \[?mail\]?(?:\(\S+\))? for .{1,40}",
    rf"from (?:my )?{_BRAND}(?: \w+)?",
    r"(?:get|download) \[?outlook for (?:ios|android|mac|windows).{0,80}",
    # German, French
    rf"(?:diese nachricht wurde )?(?:von|mit|vom) {_OF}(?:gesendet|geschickt|verfasst)",
    rf"gesendet (?:von|mit|über|via|aus) {_OF}",
    rf"envoyé (?:de|d’|d'|depuis|à partir de|avec|par|via) ?{_OF}",
    # Spanish, Portuguese, Catalan, Italian, Romanian
    rf"(?:enviado|enviada|enviat) (?:desde|do|da|de|a partir d[eo]|con|com|pelo|via|des) {_OF}",
    rf"inviato (?:da|dal|dallo|con|tramite) {_OF}",
    rf"trimis (?:de pe|din|cu) {_OF}",
    # Dutch, the Nordic languages
    rf"(?:verstuurd|verzonden|gestuurd) (?:vanaf|vanuit|met|via|van) {_OF}",
    rf"(?:skickat|skickades|sendt) (?:från|fra|med|via) {_OF}",
    rf"lähetetty (?:.{{0,24}}\b{_BRAND}.{{0,40}}|.{{0,20}}(?:laitteestani|puhelimestani).{{0,20}})",
    # Polish, Czech, Slovak, Hungarian
    rf"(?:wysłane|wysłano|wysłana) (?:z|ze|przy|za) {_OF}",
    rf"(?:odesláno|odoslané|posláno|poslané|odeslané) (?:z|ze|zo) {_OF}",
    rf"(?:elküldve|küldve) {_OF}",
    # Russian, Ukrainian, Bulgarian, Greek, Turkish
    rf"(?:отправлено|послано|надіслано|відправлено|изпратено) (?:с|со|из|з|від|от|через) {_OF}",
    rf"(?:στάλθηκε|εστάλη) από {_OF}",
    rf"(?:.{{0,20}}\b{_BRAND}.{{0,20}}|.{{0,20}}(?:cihazımdan|telefonumdan)) gönderildi",
    # Chinese, Japanese, Korean
    r"(?:发自|來自|来自|傳送自|发送自|寄自)我的? ?.{1,30}",
    rf"(?:发自|发送自|傳送自) ?{_BRAND}.{{0,20}}",
    r"[從从]我的? ?.{1,30}(?:傳送|发送|發送|寄出)",
    rf".{{0,20}}{_BRAND}.{{0,20}}(?:から送信|より送信)(?:されました)?",
    rf"(?:나의 .{{1,30}}|.{{0,20}}{_BRAND}.{{0,20}})에서 보냄",
    # Hebrew, Arabic, Vietnamese, Indonesian
    r"נשלח מה-?.{1,40}",
    rf"(?:أرسلت|أُرسلت|تم الإرسال|مرسل) من .{{0,20}}{_BRAND}.{{0,20}}",
    rf"(?:đã gửi|được gửi|gửi) từ .{{0,20}}{_BRAND}.{{0,20}}",
    rf"dikirim dari .{{0,20}}{_BRAND}.{{0,20}}",
    # Outlook on telephones, in any language: "Outlook für iOS beziehen"
    r"(?:\S+ ){0,5}outlook[\w'’]*(?: \S+){1,3} (?:ios|android)(?: \S+){0,3}",
    r"(?:ios|android)\S{0,4}(?: \S+){0,2} outlook.{0,20}",
)
_MOBILE: Final = re.compile(
    r"^[\s(<\[*_~-]{0,6}(?:" + "|".join(_PHRASES) + r")[\s.)>\]*_~!]{0,6}$", re.IGNORECASE
)
_LINK: Final = re.compile(r"\s*[<(\[]{0,2}https?://[^\s<>]{1,300}[>)\]]{0,2}")
_DELIMITER: Final = re.compile(r"^\s?(?:--|—|––|—-)\s*$")
_DASHED_NAME: Final = re.compile(r"^[-–—]{1,2}[^\W\d_][\w.'’]*(?: [^\W\d_][\w.'’]*){0,2}$")
_LIST: Final = re.compile(
    r"mailing list$|mailman/listinfo|^to unsubscribe\b|^unsubscribe\b.*https?://|"
    r"^you received this message because you are subscribed|"
    r"\bantivirus\b|\bvirus-free\b|\bvirenfrei\b|checked for viruses|auf viren",
    re.IGNORECASE,
)


def is_mobile(line: str) -> bool:
    """Tell whether a program signed here: "Sent from my iPhone"."""
    if len(line) > 2 * _LONGEST_LINE or is_blank(line):
        return False
    text = _LINK.sub("", line).strip()
    return len(text) <= _LONGEST_LINE and bool(_MOBILE.match(text))


def without_signature(lines: list[str]) -> list[str]:
    """Take the signature off the end of what a person wrote in one piece."""
    kept = _bare(_without_footer(lines))
    kept = _bare(_without_block(kept))
    return _without_name(kept)


def _bare(lines: list[str]) -> list[str]:
    """Cut what says nothing at the end: blank lines, drawn lines, programs' signatures."""
    end = len(lines)
    below = False
    while end:
        line = lines[end - 1]
        signed = is_mobile(line)
        if not (signed or is_blank(line) or is_rule(line) or (below and _above_signs(lines, end))):
            break
        below = signed
        end -= 1
    return lines[:end]


def _above_signs(lines: list[str], end: int) -> bool:
    """What stands right between two signatures of programs is a third, in words we don't know."""
    above = next((line for line in reversed(lines[max(0, end - 4) : end - 1]) if line.strip()), "")
    return is_mobile(above)


def _without_footer(lines: list[str]) -> list[str]:
    """Cut what lists and virus scanners add: a drawn line, and their name within three lines."""
    for place in range(max(0, len(lines) - _LONGEST_BLOCK), len(lines)):
        if is_rule(lines[place]) and any(
            _LIST.search(head(line)) for line in lines[place + 1 : place + 4]
        ):
            return lines[:place]
    return lines


def _without_block(lines: list[str]) -> list[str]:
    """Cut at "-- " (RFC 3676, 4.3), if what follows is short enough for a signature."""
    cut, filled = len(lines), 0
    for place in range(len(lines) - 1, -1, -1):
        filled += not is_blank(lines[place])
        if filled > _LONGEST_BLOCK:
            break
        if _DELIMITER.match(lines[place]):
            cut = place
    return lines[:cut]


def _without_name(lines: list[str]) -> list[str]:
    """Cut "-Ada" at the end, where it can't be an item of a list or the whole answer."""
    if len(lines) < 3 or not _DASHED_NAME.match(head(lines[-1])) or not is_blank(lines[-2]):  # noqa: PLR2004 - a text, a blank line and the name
        return lines
    return _bare(lines[:-1]) if lines[-1].lstrip("-–—")[:1].isupper() else lines
