"""Schemes: the vectors that their senders publish, and what counts as proof and what doesn't."""

from __future__ import annotations

import hmac
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from standardwebhooks import Webhook

from channels.webhook.schemes import Lock, SchemeName, Sealed, verify
from channels.webhook.signatures import Forged, Unsigned

STANDARD = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
STANDARD_HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
STANDARD_BODY = b'{"test": 2432232314}'
STANDARD_TIME = 1614265330

SLACK = Lock(
    scheme="hmac",
    secrets=(b"8f742231b10e8888abcd99yyyzzz85a5",),
    header="x-slack-signature",
    prefix="v0=",
    timestamp="x-slack-request-timestamp",
    signed="v0:{timestamp}:{body}",
)
SLACK_BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
    b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
    b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
    b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
SLACK_HEADERS = {
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    "x-slack-request-timestamp": "1531420618",
}


def lock(scheme: SchemeName, *secrets: bytes) -> Lock:
    """Make a lock with these secrets."""
    return Lock(scheme=scheme, secrets=secrets)


def digest_id(body: bytes) -> str:
    """Give what stands for an id that is not there."""
    return f"sha256:{sha256(body).hexdigest()}"


# --- published vectors ----------------------------------------------------------------------------


def test_standard_webhooks_vector_is_accepted_and_its_id_is_the_delivery() -> None:
    """The one of the specification."""
    sealed = Sealed(STANDARD_HEADERS, STANDARD_BODY, STANDARD_TIME)

    assert verify(lock("standard", STANDARD), sealed) == "msg_p5jXN8AQM9LWM0D4loKWxJek"


def test_gitlab_signing_token_is_standard_webhooks() -> None:
    """A secret that begins with whsec_ is one; the same vector fits."""
    sealed = Sealed(STANDARD_HEADERS, STANDARD_BODY, STANDARD_TIME)

    assert verify(lock("gitlab", STANDARD), sealed) == "msg_p5jXN8AQM9LWM0D4loKWxJek"


def test_github_vector_is_accepted() -> None:
    """The one of "Validating webhook deliveries"."""
    headers = {
        "x-hub-signature-256": (
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        ),
        "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    }
    sealed = Sealed(headers, b"Hello, World!", 0)

    delivery = verify(lock("github", b"It's a Secret to Everybody"), sealed)

    assert delivery == "72d3162e-cc78-11e3-81ab-4c9367dc0958"


@pytest.mark.parametrize(
    ("body", "secret", "signature"),
    [
        (
            b"hello world",
            b"secret",
            "734cc62f32841568f45715aeb9f4d7891324e6d948e4c6c60c0621cdac48623a",
        ),
        (
            b"lalala",
            b"another-secret",
            "daa220016c8f29a8b214fbfc3671aeec2145cfb1e6790184ffb38b6d0425fa00",
        ),
        (
            b"an-important-request-payload",
            b"hunter123",
            "9be2242094a9a8c00c64306f382a7f9d691de910b4a266f67bd314ef18ac49fa",
        ),
        (b"foo", b"secret", "773ba44693c7553d6ee20f61ea5d2757a9a4f4a44d2841ae4e95b52e4cd62db4"),
    ],
)
def test_circleci_vectors_are_accepted(body: bytes, secret: bytes, signature: str) -> None:
    """Those of CircleCI's page on webhooks; other versions in the list count for nothing."""
    headers = {"circleci-signature": f"v1={signature},v2=whatever"}

    assert verify(lock("circleci", secret), Sealed(headers, body, 0)) == digest_id(body)


def test_slacks_own_example_fits_what_an_operator_describes() -> None:
    """`hmac` with a prefix, a time and a form of its own: that of "Verifying requests"."""
    assert verify(SLACK, Sealed(SLACK_HEADERS, SLACK_BODY, 1531420618)) == digest_id(SLACK_BODY)


def test_rfc_4231_vector_fits_hmac_in_every_form() -> None:
    """Test case 2, by two algorithms and in both encodings."""
    body, secret = b"what do ya want for nothing?", b"Jefe"
    hexes = {
        "sha256": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "sha512": (
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
            "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
        ),
    }
    for algorithm in ("sha256", "sha512"):
        for encoding in ("hex", "base64"):
            text = hexes[algorithm]
            given = text if encoding == "hex" else b64encode(bytes.fromhex(text)).decode()
            own = Lock(
                scheme="hmac",
                secrets=(secret,),
                header="x-signature",
                algorithm=algorithm,
                encoding=encoding,
            )

            assert verify(own, Sealed({"x-signature": given}, body, 0)) == digest_id(body)


def test_rfc_7617_and_rfc_6750_examples_are_accepted() -> None:
    """Aladdin's password, and the RFC's bearer token; the kind in any case of letters."""
    aladdin = {"authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="}
    bearer = {"authorization": "bearer mF_9.B5f-4.1JqM", "idempotency-key": "run-7"}

    assert verify(lock("basic", b"Aladdin:open sesame"), Sealed(aladdin, b"{}", 0)) == digest_id(
        b"{}"
    )
    assert verify(lock("bearer", b"mF_9.B5f-4.1JqM"), Sealed(bearer, b"{}", 0)) == "run-7"


def test_whatever_the_reference_library_signs_is_accepted() -> None:
    """The oracle: `standardwebhooks` signs, we verify."""
    moment = datetime(2026, 11, 16, 6, 0, tzinfo=UTC)
    for number in range(50):
        secret = "whsec_" + b64encode(sha256(b"%d" % number).digest()).decode()
        body = f'{{"ü": {number}}}'
        headers = {
            "webhook-id": f"msg_{number}",
            "webhook-timestamp": str(int(moment.timestamp())),
            "webhook-signature": Webhook(secret).sign(f"msg_{number}", moment, body),
        }
        sealed = Sealed(headers, body.encode(), moment.timestamp())

        assert verify(lock("standard", secret.encode()), sealed) == f"msg_{number}"


# --- each scheme's ways ---------------------------------------------------------------------------


def buildkite(body: bytes, secret: bytes, time: int) -> dict[str, str]:
    """Sign as Buildkite's documentation shows: the time, a dot, the body."""
    code = hmac.new(secret, b"%d.%b" % (time, body), "sha256").hexdigest()
    return {"x-buildkite-signature": f"timestamp={time},signature={code}"}


def test_buildkite_signature_or_token_is_accepted_and_a_bad_signature_is_not_saved_by_a_token() -> (
    None
):
    """Where a signature is sent, only that counts."""
    own, body = lock("buildkite", b"tok"), b'{"event":"ping"}'
    signed = buildkite(body, b"tok", 1000)

    assert verify(own, Sealed(signed, body, 1300)) == digest_id(body)
    assert verify(own, Sealed({"x-buildkite-token": "tok"}, body, 0)) == digest_id(body)
    with pytest.raises(Forged):
        verify(own, Sealed({**signed, "x-buildkite-token": "tok"}, b"{}", 1000))


def test_gitlab_token_is_accepted_with_its_idempotency_key() -> None:
    """Which stays the same for every try."""
    headers = {"x-gitlab-token": "tok", "idempotency-key": "f5e57cbd", "x-gitlab-event-uuid": "1"}

    assert verify(lock("gitlab", b"tok"), Sealed(headers, b"{}", 0)) == "f5e57cbd"


def test_gitlab_with_a_signing_token_is_not_content_with_a_token() -> None:
    """Not even with the right one: a signed source stays signed."""
    headers = {"x-gitlab-token": STANDARD.decode()}

    with pytest.raises(Unsigned):
        verify(lock("gitlab", STANDARD), Sealed(headers, b"{}", 0))


def test_gitlab_takes_both_while_a_source_moves_from_a_token_to_a_signature() -> None:
    """Each by its own proof."""
    both = lock("gitlab", b"tok", STANDARD)

    assert verify(both, Sealed(STANDARD_HEADERS, STANDARD_BODY, STANDARD_TIME))
    assert verify(both, Sealed({"x-gitlab-token": "tok"}, b"{}", 0))


def test_circleci_delivery_is_named_by_the_signed_payload() -> None:
    """Its `id`, as CircleCI says; not by anything that isn't signed."""
    body = b'{"id":"3888f21b","type":"ping"}'
    code = hmac.new(b"s", body, "sha256").hexdigest()

    sealed = Sealed({"circleci-signature": f"v1={code}"}, body, 0)

    assert verify(lock("circleci", b"s"), sealed) == "3888f21b"


@pytest.mark.parametrize("secrets", [(b"old", b"new"), (b"new", b"old")])
def test_two_secrets_are_good_during_rotation(secrets: tuple[bytes, bytes]) -> None:
    """Whichever the sender has by now, in whichever order they are named."""
    for secret in secrets:
        code = hmac.new(secret, b"{}", "sha256").hexdigest()
        sealed = Sealed({"x-hub-signature-256": f"sha256={code}"}, b"{}", 0)

        assert verify(lock("github", *secrets), sealed) == digest_id(b"{}")


def test_one_of_several_signatures_of_a_sender_that_rotates_is_enough() -> None:
    """Standard Webhooks sends one for each of its secrets."""
    listed = f"v1a,xyz v1,AAAA {STANDARD_HEADERS['webhook-signature']}"
    sealed = Sealed({**STANDARD_HEADERS, "webhook-signature": listed}, STANDARD_BODY, STANDARD_TIME)

    assert verify(lock("standard", STANDARD), sealed)


@pytest.mark.parametrize("off", [-301, 301, 10**9])
def test_time_that_is_more_than_five_minutes_off_is_refused(off: int) -> None:
    """Both ways; five minutes exactly are good."""
    for now in (STANDARD_TIME - 300, STANDARD_TIME + 300):
        assert verify(lock("standard", STANDARD), Sealed(STANDARD_HEADERS, STANDARD_BODY, now))
    sealed = Sealed(STANDARD_HEADERS, STANDARD_BODY, STANDARD_TIME + off)
    with pytest.raises(Forged, match="300 seconds"):
        verify(lock("standard", STANDARD), sealed)
    with pytest.raises(Forged, match="300 seconds"):
        verify(SLACK, Sealed(SLACK_HEADERS, SLACK_BODY, 1531420618 + off))
    with pytest.raises(Forged, match="300 seconds"):
        verify(lock("buildkite", b"t"), Sealed(buildkite(b"{}", b"t", 5), b"{}", 5 + off))


@pytest.mark.parametrize("time", ["", "abc", "-5", "1e9", "٣", "1614265330.0", "9" * 13])
def test_time_that_is_none_is_refused_also_if_it_is_signed(time: str) -> None:
    """Whole seconds in ASCII digits, and no exception but ours."""
    key = hmac.new(b"k", b"m.%b.{}" % time.encode(), "sha256").digest()
    headers = {
        "webhook-id": "m",
        "webhook-timestamp": time,
        "webhook-signature": f"v1,{b64encode(key).decode()}",
    }

    with pytest.raises(Forged):
        verify(lock("standard", b64encode(b"k")), Sealed(headers, b"{}", 1614265330))


@pytest.mark.parametrize("own", ["", "a b", "x" * 201, "ü", "\udcff", "a\x00b"])
def test_odd_id_of_a_delivery_gives_way_to_the_digest(own: str) -> None:
    """It becomes part of a key and of an address."""
    headers = {"authorization": "Bearer t", "idempotency-key": own}

    assert verify(lock("bearer", b"t"), Sealed(headers, b"{}", 0)) == digest_id(b"{}")


@pytest.mark.parametrize(
    "value",
    ["", "\udcff\udcfe", "é", "sha256=", "sha256", "=", ",", " ", "v1,", "Basic !", "Bearer"],
)
@pytest.mark.parametrize(
    "scheme", ["standard", "github", "gitlab", "circleci", "buildkite", "bearer", "basic"]
)
def test_odd_headers_are_refused_and_nothing_else_is_raised(scheme: SchemeName, value: str) -> None:
    """A header need not even be text."""
    names = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-hub-signature-256"]
    names += ["x-gitlab-token", "circleci-signature", "x-buildkite-signature", "authorization"]
    names += ["x-buildkite-token"]

    for secret in (STANDARD, b"c2VjcmV0"):
        with pytest.raises(Forged):
            verify(lock(scheme, secret), Sealed(dict.fromkeys(names, value), b"{}", 0))
