"""Task 61: two pet insurance booklets, to be compared and asked about one bill."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.booklet import Block, Heading, NewPage, write_booklet

PAWSURE = "resources/files/61-pawsure_essential.pdf"
TAILGUARD = "resources/files/61-tailguard_plus.pdf"
SURGERY, PHYSIO = 1840, 260


@dataclass(frozen=True, slots=True)
class Plan:
    """What a booklet says that matters for a medium dog of nine, in GBP and percent."""

    name: str
    insurer: str
    path: str
    premiums: dict[str, tuple[float, float, float]]
    excess: int
    copay: dict[str, int]
    annual_limit: int
    physio_limit: int
    condition_limit: int | None
    dental: str
    waiting_illness: int
    waiting_joints: int
    claim_days: int
    travel_days: int
    cancel_days: int

    @property
    def premium(self) -> float:
        """Monthly premium of a medium dog of nine."""
        return self.premiums["9 years and over"][1]

    @property
    def copay_at_nine(self) -> int:
        """Percent of a claim that the owner of a dog of nine bears."""
        return next(reversed(self.copay.values()))

    @property
    def paid(self) -> float:
        """What the plan pays of the bill: limits first, then the excess, then the co-payment."""
        covered = SURGERY + min(PHYSIO, self.physio_limit)
        if self.condition_limit is not None:
            covered = min(covered, self.condition_limit)
        return (covered - self.excess) * (100 - self.copay_at_nine) / 100

    @property
    def year(self) -> float:
        """What the year costs the owner: twelve premiums and what is left of the bill."""
        return 12 * self.premium + SURGERY + PHYSIO - self.paid


PLANS = (
    Plan(
        name="Pawsure Essential",
        insurer="Pawsure Mutual",
        path=PAWSURE,
        premiums={
            "under 5 years": (14.20, 17.60, 22.10),
            "5 to 8 years": (21.50, 26.90, 33.40),
            "9 years and over": (31.80, 38.40, 47.20),
        },
        excess=120,
        copay={"under 5 years": 0, "5 to 8 years": 10, "9 years and over": 20},
        annual_limit=4000,
        physio_limit=200,
        condition_limit=None,
        dental="accidents only, up to GBP 300 a year",
        waiting_illness=14,
        waiting_joints=30,
        claim_days=90,
        travel_days=0,
        cancel_days=14,
    ),
    Plan(
        name="TailGuard Plus",
        insurer="TailGuard Ltd",
        path=TAILGUARD,
        premiums={
            "under 5 years": (18.90, 22.40, 27.30),
            "5 to 8 years": (27.60, 33.10, 40.80),
            "9 years and over": (39.70, 46.90, 57.50),
        },
        excess=75,
        copay={"under 7 years": 0, "7 years and over": 10},
        annual_limit=7500,
        physio_limit=500,
        condition_limit=2000,
        dental="accidents and illness, up to GBP 600 a year",
        waiting_illness=10,
        waiting_joints=60,
        claim_days=180,
        travel_days=60,
        cancel_days=21,
    ),
)


def make_inputs(folder: Path) -> None:
    """Write both booklets."""
    for plan, story in ((PLANS[0], _pawsure(PLANS[0])), (PLANS[1], _tailguard(PLANS[1]))):
        subtitle = f"Policy booklet for dogs, valid from 1 January 2025. {plan.insurer}"
        write_booklet(folder / plan.path, plan.name, subtitle, story)


def _premium_table(plan: Plan) -> list[list[str]]:
    head = ["Age of dog", "Small (to 10 kg)", "Medium (10 to 25 kg)", "Large (over 25 kg)"]
    return [head, *([age, *(f"GBP {value:.2f}" for value in row)] for age, row in plan.premiums.items())]


def _pawsure(plan: Plan) -> list[Block]:
    return [
        Heading("1 What you pay"),
        "Your premium depends on the age and the size of your dog. It is collected on the first of each month.",
        _premium_table(plan),
        Heading("2 What we pay"),
        f"We pay vet fees up to GBP {plan.annual_limit:,} in a policy year. There is no limit per condition.",
        "A claim is settled in this order: benefit limits of section 3 are applied first, then the excess is taken "
        "off, then your co-payment share of what remains.",
        f"The excess is GBP {plan.excess} for each condition and policy year.",
        [["Age of dog", "Your co-payment"], *([age, f"{share} %"] for age, share in plan.copay.items())],
        NewPage(),
        Heading("3 Benefit limits"),
        [
            ["Benefit", "Limit in a policy year"],
            ["Surgery and hospital", "within the annual limit"],
            ["Physiotherapy and hydrotherapy", f"GBP {plan.physio_limit}"],
            ["Dental treatment", plan.dental],
            ["Prescription food", "not covered"],
            ["Treatment abroad", "not covered"],
        ],
        Heading("4 Waiting periods"),
        f"Illness is covered after {plan.waiting_illness} days from the start of the policy, accidents after 2 days. "
        f"Cruciate ligaments, hips and elbows are covered after {plan.waiting_joints} days.",
        Heading("5 What is not covered"),
        "Conditions your dog had before the policy began or during a waiting period; routine care such as vaccination, "
        "worming and neutering; pregnancy; behaviour training.",
        NewPage(),
        Heading("6 How to claim"),
        f"Send the invoice within {plan.claim_days} days of treatment. We refuse late claims and pay you, not the vet.",
        Heading("7 Ending your policy"),
        f"You may cancel within {plan.cancel_days} days of the start for a full refund if you have not claimed. "
        "After that the policy runs to the end of the year.",
        "Premiums may rise at renewal. We write to you 28 days before.",
    ]


def _tailguard(plan: Plan) -> list[Block]:
    return [
        Heading("A. Cover at a glance"),
        [
            ["", "TailGuard Plus"],
            ["Vet fees in a policy year", f"GBP {plan.annual_limit:,}"],
            ["Vet fees for one condition", f"GBP {plan.condition_limit:,}"],
            ["Physiotherapy", f"GBP {plan.physio_limit}"],
            ["Dental", plan.dental],
            ["Treatment abroad", f"EU countries, trips of up to {plan.travel_days} days"],
            ["Prescription food", "GBP 100"],
        ],
        "The amount for one condition includes everything done for it: consultations, surgery, drugs, physiotherapy.",
        Heading("B. Your share"),
        "From every claim we first cap the costs at the amounts of part A. We then deduct the excess of "
        f"GBP {plan.excess} (once for each condition and policy year) and, of the rest, the co-payment below.",
        [["Dog's age at treatment", "Co-payment"], *([age, f"{share} %"] for age, share in plan.copay.items())],
        NewPage(),
        Heading("C. Premiums a month"),
        _premium_table(plan),
        "Two dogs in one household: 5 % off each premium.",
        Heading("D. When cover starts"),
        f"Accidents: at once. Illness: day {plan.waiting_illness + 1}, that is after {plan.waiting_illness} days. "
        f"Joints and ligaments: after {plan.waiting_joints} days, unless a vet certified sound joints before.",
        Heading("E. Exclusions"),
        "Pre-existing conditions; vaccination, flea and worm treatment; breeding; cosmetic surgery; racing dogs.",
        Heading("F. Claims and cancellation"),
        f"Claims reach us within {plan.claim_days} days of treatment, online or by post. On request we pay the vet.",
        f"Cooling-off period: {plan.cancel_days} days. Later you may cancel with 30 days' notice at any time.",
    ]


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: the terms as the booklets state them, and the case worked out from them."""
    found: dict[str, Derived] = {}
    for plan, letter in zip(PLANS, "ab", strict=True):
        covered = f"{SURGERY} + min({PHYSIO}, {plan.physio_limit})"
        if plan.condition_limit is not None:
            covered = f"min({covered}, {plan.condition_limit})"
        stated = {
            "premium": (plan.premium, "table of premiums, row 9 years and over, column medium (10 to 25 kg)"),
            "excess": (plan.excess, "stated"),
            "copay": (plan.copay_at_nine, "table of co-payments, the row that holds nine years"),
            "limit": (plan.annual_limit, "stated for a policy year"),
            "condition": (plan.condition_limit, "stated for one condition"),
            "physio": (plan.physio_limit, "table of benefits"),
            "dental": (int(plan.dental.split()[-3]), "table of benefits"),
            "illness": (plan.waiting_illness, "stated"),
            "joints": (plan.waiting_joints, "stated"),
            "claim": (plan.claim_days, "stated"),
            "abroad": (plan.travel_days, "table of benefits"),
            "cancel": (plan.cancel_days, "stated"),
            "paid": (round(plan.paid, 2), f"({covered} - {plan.excess}) x (100 - {plan.copay_at_nine}) / 100"),
            "year": (round(plan.year, 2), f"12 x {plan.premium:.2f} + {SURGERY + PHYSIO} - {plan.paid:.2f}"),
        }
        found |= {f"{name}_{letter}": Derived(value, f"{how} ({plan.name})") for name, (value, how) in stated.items()}
    cheaper, dearer = sorted(PLANS, key=lambda plan: plan.year)
    return {
        **found,
        "cheaper": Derived(cheaper.name, "the plan with the lower cost of the year"),
        "saving": Derived(round(dearer.year - cheaper.year, 2), f"{dearer.year:.2f} - {cheaper.year:.2f}"),
        "pages_a": Derived(
            "1 for premium, excess, co-payment and both limits; 2 for physiotherapy, dental, waiting, abroad; 3 for "
            "claims, cancelling",
            "the page each term stands on",
        ),
        "pages_b": Derived(
            "2 for premium, waiting, claims, cancelling; 1 for the rest", "the page each term stands on"
        ),
    }
