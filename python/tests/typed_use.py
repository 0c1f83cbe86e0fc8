"""How typed code uses snapdp: tools/run-tests has mypy --strict read this, and nothing runs it."""

from decimal import Decimal
from fractions import Fraction

import snapdp as dp


def use(frame: object) -> None:
    people = dp.dataset(
        "people-2026",
        neighbors="add-remove",
        unit="user_id",
        max_rows_per_unit=3,
        columns={"age": dp.integer(0, 100), "income": dp.real(0, "5e5"), "city": dp.text(keys=["Ulm", "Jena"])},
    )
    plan = people.plan(
        dp.count(epsilon=0.1),
        dp.mean("age", accuracy=Decimal("0.25")),
        dp.mean("income", weight=Fraction(1, 3)).by("city", keys=["Ulm"]),
        dp.quantiles("income", [0.25, "1/2"], resolution=1000),
        dp.histogram("age", edges=range(0, 101, 10), range=(0, None), guesses=[(10, 1), 20]),
        epsilon="1",
    )
    cost: Fraction = plan.epsilon
    tight: list[float] = [one.accuracy.tight for one in plan.statistics if one.accuracy is not None]
    ledger = dp.Ledger.create("people.ledger", people, epsilon=2)
    left: Fraction = ledger.remaining - cost
    report = plan.release(frame, ledger, label="2026-Q4", progress=lambda percent: print(percent))
    again = plan.release(frame, ledger, label="2026-Q4", progress=True)
    drawn = (report.plot("mean age", width=5), plan.plot())
    picture: str = dp.law(epsilon=1, sensitivity=1).svg()
    value: int | float | Fraction = report["mean age"].value
    lower, upper = report["mean age"].interval
    keys: list[str] = list(report)
    mechanism = dp.Snapping(epsilon="1/4", sensitivity=1, lower=0, upper=100)
    noisy: float = mechanism.release(42.0)
    accuracy: dp.Accuracy = dp.accuracy(epsilon=1, sensitivity=1)
    epsilon: Fraction = dp.compose([(0.1, 100)], delta=1e-6).optimal
    there: dp.Elsewhere = dp.sql(frame, "people", dialect="postgresql")
    plan.release(there, ledger)
    query: str = plan.sql("spark", "people")
    plan.release(dp.aggregates(["n_0"], [(1, Decimal(2), "3")]), ledger)
    part: bytes = dp.fold(plan, frame, whole_units=True, progress=True)
    plan.release(dp.states([part]), ledger)
    gridded: dp.Dataset = dp.dataset("grid", neighbors="add-remove", row_grid="auto")
    gridded.plan(dp.sum("x", bounds=(0, 1), row_grid="2^-20"), epsilon=1)
    print(query)
    try:
        plan.dry_run(frame, ledger)
    except dp.Error as error:
        print(error.code, error.parameter)
    print(again.reprinted, drawn, picture, cost, tight, left, value, lower, upper, keys, noisy, accuracy.tight, epsilon)


def chain(ages: list[float]) -> None:
    rows: dp.Rows = dp.rows(dp.real(), neighbors="change-one", size=100)
    recipe: dp.Step[dp.Measurement] = dp.impute(40) >> dp.clamp(0, 100) >> dp.mean() >> dp.snapping(epsilon="1/4")
    measurement: dp.Measurement = rows >> recipe
    budget = dp.Budget(Decimal("0.5"))
    release: dp.Release = measurement.release(ages, budget)
    loss: Fraction = measurement.loss(2) + release.loss
    accuracy: dp.Accuracy = measurement.accuracy(0.05)
    halve = dp.transformation(lambda cells: [cell / 2 for cell in cells], output=dp.real(0, 5), stability=1)
    own = dp.aggregation(lambda cell: Fraction(cell), relation=lambda d_in, d_out: d_out >= d_in, grid="2^-9")
    found: dp.testing.Counterexample | None = dp.testing.find_counterexample(rows >> dp.impute(0) >> halve >> own)

    total: dp.Step[dp.Aggregation] = dp.clamp(0, 1) >> dp.sum()
    exact: tuple[Fraction, ...] = (rows >> dp.impute(0) >> total).exact(ages)

    class Payer:
        def debit(self, debit: dp.Debit) -> None:
            print(debit.loss, debit.metric)

    both = dp.sequential(measurement, measurement)
    both.release(ages, Payer())
    print(loss, accuracy.tight, found, exact, budget.remaining, release.value)
