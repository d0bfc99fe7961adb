"""What mail programs write around a reply, in the languages that they speak.

Data only: words and labels as programs print them, lower case. How they are put together to
recognise a line stands in `attributions`, `header_blocks`, `marks` and `signatures`.
"""

from __future__ import annotations

from typing import Final

VERBS: Final = (
    # English, German, French, Spanish, Portuguese, Italian, Dutch
    *("wrote", "writes", "said", "schrieb", "schrieben", "geschrieben", "hat geschrieben"),
    *("a écrit", "a ecrit", "écrit", "escribió", "escribio", "ha escrito", "va escriure"),
    *("escreveu", "a escrit", "ha scritto", "scrisse", "scrive", "schreef", "geschreven"),
    # Swedish, Norwegian, Danish, Finnish, Icelandic
    *("skrev", "skrev følgende", "följande", "kirjoitti", "skrifaði", "følgende"),
    # Polish, Czech, Slovak, Hungarian, Romanian, Slovene, Croatian
    *("napisał(a)", "napisał", "napisała", "napisal", "napisala", "pisze", "napsal(a)", "napsal"),
    *("napsala", "napísal(a)", "napísal", "napísala", "írta", "ezt írta", "a scris"),
    *("je napisal(a)", "je napisao", "je napisala", "je napisao/la", "piše", "је написао/ла"),
    # Russian, Ukrainian, Bulgarian, Greek, Turkish
    *("написал(а)", "написал", "написала", "писал(а)", "писал", "пишет", "написав(ла)", "написав"),
    *("написала(в)", "пише", "написа", "έγραψε", "έγραψες", "yazdı", "şunu yazdı", "şunları yazdı"),
    # Baltic, Catalan, Vietnamese, Indonesian
    *("rašė", "parašė", "rakstīja", "kirjutas", "đã viết", "menulis", "idatzi du", "skribis"),
    # Hebrew, Arabic, Persian, Hindi, Thai
    *("כתב", "כתבה", "כתב/ה", "מאת", "كتب", "كتبت", "نوشت", "ने लिखा", "เขียนว่า", "เขียน"),
    # Chinese, Japanese, Korean
    *(
        "写道",
        "寫道",
        "撰写",
        "のメール",
        "さんは書きました",
        "書きました",
        "wrote",
        "작성",
        "님이 작성",
    ),
)
"""How a program says that somebody wrote what follows."""

OPENINGS: Final = (
    *("on ", "am ", "le ", "el ", "em ", "no dia", "il ", "il giorno", "op ", "den ", "dnia "),
    *("w dniu", "dne ", "dňa ", "pe ", "în data", "la data", "a las", "vào ", "pada ", "le\u00a0"),
    *("на ", "в ", "вт", "пн", "ср", "чт", "пт", "сб", "вс", "нд", "у ", "στις ", "tarihinde"),
    *("ב", "בתאריך", "في ", "در ", "在", "于", "於", "mon", "tue", "wed", "thu", "fri", "sat"),
    *("sun", "d. ", "på ", "dana ", "maanantai", "ti ", "ke ", "to ", "pe ", "la ", "su ", "ma "),
    *("a(z) ", "ajal ", "kuupäeval", "dt., ", "dl., ", "ter", "seg", "qua", "qui", "sex", "sáb"),
)
"""How such a line begins, where it does not begin with the date or a name."""

ORIGINALS: Final = (
    *("original message", "original email", "original mail", "reply message", "replied message"),
    *("reply to message", "previous message", "ursprüngliche nachricht", "originalnachricht"),
    *("original-nachricht", "antwort nachricht", "ursprüngliche mail", "originalmail"),
    *("message d'origine", "message d’origine", "message original", "courriel original"),
    *("message initial", "mensaje original", "correo original", "mensagem original"),
    *("messaggio originale", "messaggio di origine", "oorspronkelijk bericht"),
    *("oorspronkelijke bericht", "origineel bericht", "ursprungligt meddelande"),
    *("originalmeddelande", "ursprungligt e-postmeddelande", "opprinnelig melding"),
    *("oprindelig meddelelse", "oprindelig besked", "original meddelelse"),
    *("alkuperäinen viesti", "alkuperäinen viesti", "oryginalna wiadomość"),
    *("wiadomość oryginalna", "wiadomość pierwotna", "původní zpráva", "původní e-mail"),
    *("pôvodná správa", "eredeti üzenet", "mesaj original", "mesajul original"),
    *("исходное сообщение", "оригинальное сообщение", "начальное сообщение"),
    *("початкове повідомлення", "оригінальне повідомлення", "вихідне повідомлення"),
    *("αρχικό μήνυμα", "orijinal mesaj", "özgün ileti", "orijinal i̇leti", "orijinal ileti"),
    *("originalna poruka", "izvirno sporočilo", "izvorna poruka", "originalus laiškas"),
    *("הודעה מקורית", "الرسالة الأصلية", "پیام اصلی", "thư gốc", "tin nhắn gốc", "pesan asli"),
    *("原始邮件", "原始郵件", "原邮件", "邮件原件", "原件", "原始信件", "元のメッセージ"),
    *("元のメール", "オリジナルメッセージ", "original message", "원본 메시지", "원본 메일"),
    *("원본 이메일", "회신된 메시지", "missatge original", "jatorrizko mezua"),
)
"""What stands between dashes above a message that is answered."""

FORWARDS: Final = (
    *("forwarded message", "forwarded mail", "forwarded by", "forwarded email", "fwd:"),
    *("weitergeleitete nachricht", "weitergeleitete mail", "message transféré"),
    *("message réexpédié", "message transmis", "mensaje reenviado", "mensagem encaminhada"),
    *("mensagem reencaminhada", "messaggio inoltrato", "doorgestuurd bericht"),
    *("vidarebefordrat meddelande", "vidarebefordrat mail", "videresendt melding"),
    *("videresendt meddelelse", "videresendt besked", "välitetty viesti", "edelleenlähetetty"),
    *("przekazana wiadomość", "wiadomość przekazana", "przesłana wiadomość"),
    *("přeposlaná zpráva", "preposlaná správa", "továbbított üzenet", "mesaj redirecționat"),
    *("пересылаемое сообщение", "пересланное сообщение", "переслане повідомлення"),
    *("προωθημένο μήνυμα", "iletilen mesaj", "yönlendirilmiş ileti", "yönlendirilen ileti"),
    *("proslijeđena poruka", "posredovano sporočilo", "הודעה שהועברה", "رسالة معاد توجيهها"),
    *("转发的邮件", "转发邮件", "轉寄的郵件", "轉寄郵件", "转发信息", "転送されたメッセージ"),
    *("転送メール", "전달된 메시지", "전달된 메일", "missatge reenviat", "thư được chuyển tiếp"),
)
"""What stands between dashes above a message that is passed on."""

FORWARD_LINES: Final = (
    *("begin forwarded message", "anfang der weitergeleiteten nachricht"),
    *("beginn der weitergeleiteten nachricht", "début du message réexpédié"),
    *("début du message transféré", "inicio del mensaje reenviado"),
    *("início da mensagem reencaminhada", "início da mensagem encaminhada"),
    *("inizio messaggio inoltrato", "begin doorgestuurd bericht", "start på vidarebefordrat"),
    *("vidarebefordrat brev", "start på videresendt", "välitetty viesti alkaa"),
    *("początek przekazywanej wiadomości", "začátek přeposlané zprávy", "начало переадресованного"),
    *("начало пересылаемого сообщения", "початок пересланого", "iletilen ileti başlangıcı"),
    *("下面是被转发的邮件", "开始转发邮件", "開始轉寄郵件", "以下は転送されたメッセージです"),
    *("전달된 메시지의 시작", "תחילת ההודעה שהועברה"),
)
"""Apple's way: a line of its own, without dashes."""

FORWARD_PREFIXES: Final = (
    *("fwd", "fw", "wg", "tr", "rv", "enc", "i", "doorst", "vb", "vl", "pd", "ilt", "προωθ"),
    *("转发", "轉寄", "转寄", "転送", "전달", "הועבר", "пересл", "továbbítás", "redirecționat"),
)
"""What programs put before the subject of a mail that is passed on. Not VS: that is Danish for a
forward and Finnish for a reply."""

REPLY_PREFIXES: Final = (
    *("re", "aw", "antw", "antwort", "sv", "vs", "ref", "res", "rif", "r", "odp", "od", "ynt"),
    *("yan", "回复", "回覆", "答复", "答覆", "返信", "회신", "답장", "השב", "تعليق", "رد", "atb"),
    *("отв", "на", "відп", "vá", "απ", "σχετ", "hk"),
)
"""What programs put before the subject of a reply."""

PREVIOUS: Final = (
    *("previous replies", "vorherige antworten", "réponses précédentes", "respuestas anteriores"),
    *("respostas anteriores", "risposte precedenti", "vorige antwoorden", "tidigare svar"),
    *("poprzednie odpowiedzi", "předchozí odpovědi", "предыдущие ответы", "попередні відповіді"),
    *("tidligere svar", "aiemmat vastaukset", "önceki yanıtlar", "以前的回复", "之前的回复"),
    *("以前的回覆", "前の返信", "이전 답글", "תגובות קודמות", "edelliset vastaukset"),
)
"""How services head the history that they add."""

ABOVE: Final = (
    *("reply above this line", "type your reply above", "please type your reply above"),
    *("reply above the line", "write above this line", "respond above this line"),
    *("antworten sie oberhalb dieser", "oberhalb dieser zeile antworten"),
    *("bitte antworten sie über dieser", "répondez au-dessus de cette ligne"),
    *("répondre au-dessus de cette ligne", "responda por encima de esta línea"),
    *("responda encima de esta línea", "responda acima desta linha"),
    *("escreva sua resposta acima", "rispondi sopra questa", "antwoord boven deze"),
    *("skriv ditt svar ovanför", "skriv svaret ditt over", "skriv dit svar over"),
    *("odpowiedz powyżej tej", "odpovězte nad tento", "ответьте выше этой", "请在此行上方回复"),
    *("この行より上に返信", "이 줄 위에 회신", "bu satırın üzerine"),
)
"""How services mark where the answer ends."""

LABELS: Final[dict[str, tuple[str, ...]]] = {
    "from": (
        *("from", "von", "de", "da", "van", "från", "fra", "lähettäjä", "od", "feladó", "de la"),
        *("от", "от кого", "від", "від кого", "από", "kimden", "gönderen", "מאת", "من", "发件人"),
        *("寄件者", "寄件人", "發件人", "差出人", "送信者", "送信元", "보낸 사람", "보낸사람"),
        *("발신", "từ", "dari", "expéditeur", "remitente", "remetente", "mittente", "afzender"),
        *("avsändare", "avsender", "afsender", "nadawca", "odesílatel", "отправитель", "saatja"),
    ),
    "sent": (
        *("sent", "gesendet", "gesendet am", "envoyé", "envoyé le", "enviado", "enviado el"),
        *("enviado em", "enviada", "enviada em", "inviato", "inviato il", "verzonden"),
        *("verzonden op", "skickat", "sendt", "lähetetty", "wysłano", "wysłane", "data wysłania"),
        *("odesláno", "odoslané", "elküldve", "küldve", "trimis", "отправлено", "надіслано"),
        *("στάλθηκε", "εστάλη", "gönderildi", "gönderilen", "gönderme tarihi", "נשלח"),
        *("تم الإرسال", "发送时间", "傳送時間", "寄件日期", "發送時間", "送信日時", "보낸 날짜"),
        *("보낸 시간", "đã gửi", "dikirim", "enviat", "poslano", "sent at", "sent on"),
    ),
    "date": (
        *("date", "datum", "fecha", "data", "dato", "päivä", "päivämäärä", "pvm", "dátum"),
        *(
            "дата",
            "ημερομηνία",
            "tarih",
            "תאריך",
            "التاريخ",
            "日期",
            "时间",
            "時間",
            "日付",
            "日時",
        ),
        *("날짜", "ngày", "tanggal", "kuupäev"),
    ),
    "to": (
        *("to", "an", "à", "a", "para", "aan", "till", "til", "vastaanottaja", "do", "komu"),
        *("címzett", "către", "catre", "кому", "προς", "kime", "alıcı", "אל", "إلى", "收件人"),
        *("收件者", "宛先", "受信者", "받는 사람", "받는사람", "수신", "tới", "đến", "kepada"),
        *("pour", "destinataire", "destinatario", "destinatário", "prima", "za"),
    ),
    "cc": (
        *("cc", "kopie", "copie à", "copie", "kopia", "kopi", "kopio", "dw", "kopie (cc)"),
        *("копия", "копія", "κοιν", "bilgi", "עותק", "نسخة", "抄送", "副本", "참조", "másolat"),
        *("copia", "cópia", "bcc", "bijlage", "kk"),
    ),
    "subject": (
        *("subject", "betreff", "objet", "sujet", "asunto", "assunto", "oggetto", "onderwerp"),
        *("ämne", "emne", "aihe", "temat", "předmět", "predmet", "tárgy", "subiect", "тема"),
        *("θέμα", "konu", "נושא", "الموضوع", "主题", "主旨", "主題", "件名", "題名", "제목"),
        *("chủ đề", "tiêu đề", "subjek", "assumpte", "gaia", "zadeva", "tema", "onderwerp"),
    ),
    "reply-to": (
        *("reply-to", "reply to", "antwort an", "répondre à", "responder a", "rispondi a"),
        *("antwoord aan", "svar til", "svara till", "odpowiedz do", "odpověď komu"),
    ),
    "other": (
        *("attachments", "anlagen", "importance", "wichtigkeit", "priority", "organization"),
        *("pièces jointes", "adjuntos", "allegati", "bijlagen", "message-id", "importancia"),
        *("priorità", "importance :", "категории", "categories", "vedhæftede filer"),
    ),
}
"""The labels of the header block that Outlook and others put above the original."""
