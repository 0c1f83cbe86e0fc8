#!/usr/bin/env python3
"""certificates.py ROOT OUT: Gappa's certificates for the fast path and the theorems that join them, as Coq files.

The scripts are those of proofs/fast_path, filled by tools/check-proofs with the constants of the C++ headers. Gappa writes
a Coq proof of each; Coq checks all of it again. Files: Logarithm0.v and Logarithm1.v (products and sums rounded one by one,
and fused), Precision0.v, Precision1.v, Approximation.v, and FastPath0.v and FastPath1.v, the theorem of proofs/coq/FastPath.v
for these constants. The slices of decision.gappa.in are left to tools/check-proofs: that theorem needs none."""

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

sys.dont_write_bytecode = True
getcontext().prec = 80
ROOT, OUT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
loader = importlib.machinery.SourceFileLoader("check_proofs", str(ROOT / "tools/check-proofs"))
cp = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_proofs", loader))
loader.exec_module(cp)


def certificate(script):
    result = subprocess.run(["gappa", "-Bcoq"], input=script, capture_output=True, text=True, check=True)
    return result.stdout


def named(proof):
    """A certificate that stands alone, its last lemma under a name of its own."""
    last = re.findall(r"^Lemma (\w+)", proof, re.MULTILINE)[-1]
    return f"{proof}\nDefinition certified := {last}.\n"


def exact(text):
    value = Fraction(float.fromhex(text)) if "0x" in text else Fraction(text)
    return f"({value.numerator} / {value.denominator})"


def ratio(value):
    return f"{value.numerator}/{value.denominator}"


def approximation(values):
    c = [exact(values[f"c{i}"]) for i in range(6)]
    polynomial = c[5]
    for k in range(4, -1, -1):
        polynomial = f"({c[k]} + s * s * {polynomial})"
    return f"""(** What Sollya bounded: the polynomial against the logarithm, by verified interval arithmetic. *)
From Coq Require Import Reals Lra.
From Interval Require Import Tactic.
Open Scope R_scope.
Definition approximation (s : R) : R := s * {polynomial}.
Theorem approximation_error s : 0 <= s <= {exact(values["largest_s"])} ->
  Rabs (approximation s - (ln (1 + s) - ln (1 - s))) <= {exact(cp.constant("ln_approximation_bound"))}.
Proof. intro H. unfold approximation. interval with (i_bisect s, i_taylor s, i_degree 14, i_prec 90, i_depth 12). Qed.
Theorem ln2_error : Rabs ({exact(values["ln2"])} - ln 2) <= {exact(values["ln2_error"])}.
Proof. interval with (i_prec 120). Qed.
"""


# What FastPath.v says of the kernel, as it stands in the sources.
KERNEL = {
    "snap_kernel_body.inc": [
        "const Real rounder = Real{} + 0x1.8p52;",
        "const Real v = to_real(w | std::uint64_t{1});",
        "const Word excess = ((Word)v - std::uint64_t{0x3fe6a09e667f3bcd}) & std::uint64_t{0x7ff0000000000000};",
        "const Real m = (Real)((Word)v - excess);",
        "const Real e = (Real)((excess >> 52) | std::uint64_t{0x4330000000000000}) - (0x1p52 + 64);",
        "const Real s = (m - 1.0) / (m + 1.0);",
        "const Real z = s * s;",
        "Real p = Real{} + ln_polynomial[5];",
        *[f"p = multiply_add(p, z, Real{{}} + ln_polynomial[{i}]);" for i in range(4, -1, -1)],
        "const Real ln = multiply_add(s, p, e * ln2);",
        "Real noise = ln;",
        "const Real signed_noise = (Real)((Word)noise ^ (w << 63));",
        "x = lower > x ? lower : x;",
        "x = upper < x ? upper : x;",
        "rounded = multiply_add(x, inverse_grid, rounder) - rounder;",
        "fraction = multiply_add(x, inverse_grid, -rounded);",
        "const Real scaled = x * inverse_grid;",
        "large = (Word)(magnitude >= 0x1p52);",
        "rounded = (Real)((Word)((magnitude + 0x1p52) - 0x1p52) | ((Word)scaled & sign_bit));",
        "fraction = (Real)((Word)(scaled - rounded) & ~large);",
        "const Real y = multiply_add(ratio, signed_noise, fraction);",
        "const Real k = (y + rounder) - rounder;",
        "const Real distance = (Real)((Word)(y - k) & ~sign_bit);",
        "const Word undecided = (Word)(distance > limit) | (Word)(v < least_uniform);",
        "result = (rounded + k) * grid;",
        "const Real base = (Real)(((Word)(rounded * grid) & ~large) | ((Word)x & large));",
        "result = multiply_add(k, grid, base);",
    ],
    "grid_mechanism.cpp": ["constants.limit = usable ? 0.5 - snap_kernel::margin(constants.ratio) : 0.0;"],
}


def check_kernel():
    """The lines stand in the sources, in this order."""
    for name, lines in KERNEL.items():
        text, place = (ROOT / "src/mechanism" / name).read_text(), 0
        for line in lines:
            place = text.find(line, place)
            if place < 0:
                sys.exit(f"certificates: {name} does not have, or not here, what proofs/coq/FastPath.v describes: {line}")


# FastPath.v with its hypotheses proved. @certificate@ is Gappa's module, @definitions@ its abbreviations.
WHOLE = r"""(** The fast path, whole, for the constants of the headers. @variant@ *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
From Interval Require Import Tactic.
Require Import Gappa.Gappa_library.
Require Approximation @certificate@.
From SnapDP Require Import Rounding Sampler Mechanism.
From SnapDP Require FastPath.
Open Scope R_scope.
Ltac unfold_bounds :=
  cbv [BND lower upper float2R Defs.F2R Defs.Fnum Defs.Fexp Gappa_definitions.Fnum Gappa_definitions.Fexp bpow Z.pow_pos
       Pos.iter Z.mul Pos.mul Pos.add radix_val radix2].
Ltac numbers := unfold FastPath.root, FastPath.unit; lra.

Lemma series_near_ln s : 0 <= s <= @largest_s@ ->
  Rabs (s * FastPath.polynomial @coefficients@ (s * s) - (ln (1 + s) - ln (1 - s))) <= @ln_approximation_bound@.
Proof.
  intro H. generalize (Approximation.approximation_error s H). unfold Approximation.approximation, FastPath.polynomial.
  match goal with |- Rabs (?a - _) <= _ -> Rabs (?b - _) <= _ => replace b with a by ring end. auto.
Qed.

Lemma roundings_of_ln m e : FastPath.is_double m -> FastPath.root / 2 <= m <= FastPath.root ->
  Rabs ((m - 1) / (m + 1)) <= @largest_s@ -> (-18 <= e <= 0)%Z ->
  Rabs (FastPath.kernel_ln @fused@ @coefficients@ @ln2@ m (IZR e) - FastPath.series @coefficients@ m (IZR e)) <= @ln_rounding_bound@.
Proof.
  intros Hd Hm Hs He.
  match goal with |- Rabs ?x <= ?b => destruct (Rle_or_lt (Rabs x) b) as [h|h]; [exact h|exfalso] end.
  assert (-18 <= IZR e <= 0) by (split; apply IZR_le; lia).
  pose proof Approximation.ln2_error as Hln2. assert (69 / 100 <= ln 2 <= 7 / 10) by (split; interval with (i_prec 60)).
  apply Rabs_le_inv in Hs. apply Rabs_le_inv in Hln2. unfold FastPath.root in Hm.
  unfold FastPath.kernel_ln, FastPath.multiply_add, FastPath.series, FastPath.polynomial in h.
  assert (Generic_fmt.round radix2 (FLT_exp (-1074) 53) rndNE m = m) as E by exact (FastPath.double_id m Hd).
  apply (@certificate@.certified m (IZR e) (ln 2)). unfold @statements@. rewrite E. change (Float1 1) with 1.
@constants@  change (Generic_fmt.round radix2 (FLT_exp (-1074) (Z.pos 53)) rndNE) with FastPath.double.
  repeat match goal with |- _ /\ _ => split | |- _ \/ _ => right end.
  all: match goal with
    | |- FIX _ _ => exists (Float2 e 0); split; [unfold float2R, Defs.F2R; simpl; ring|simpl; lia]
    | |- _ => unfold @definitions@; revert h; generalize FastPath.double; intros rounded h; unfold_bounds;
              first [lra|intros [_ h']; lra]
    end.
Qed.

(** The kernel with these constants: what it accepts and what it puts out, for one value and for many in either range. *)
Definition greatest_ratio : R := @greatest_ratio@.
Definition accepts := FastPath.narrow_accepts @fused@ @coefficients@ @ln2@ @per_ratio@ @rest@ @least_uniform@.
Definition steps := FastPath.narrow_steps @fused@ @coefficients@ @ln2@.
Definition narrow_output := FastPath.narrow_output @fused@ @coefficients@ @ln2@.
Definition wide_accepts := FastPath.wide_accepts @fused@ @coefficients@ @ln2@ @per_ratio@ @rest@ @least_uniform@.
Definition wide_output := FastPath.wide_output @fused@ @coefficients@ @ln2@.

(** What is accepted is the output of the algorithm, for every real number that begins with the word. *)
Theorem fast_path scale e lower upper value word u :
  0 < scale * bpow radix2 (- e) <= greatest_ratio -> (-1074 <= e)%Z -> (0 <= word < 2 ^ 64)%Z -> FastPath.begins_with word u ->
  let ratio := scale * bpow radix2 (- e) in
  let output := run scale (bpow radix2 e) lower upper value (FastPath.sign_of word) u in
  let base := index (bpow radix2 e) (clamp_between lower upper value) in
  let fraction := FastPath.fraction_of (clamp_between lower upper value / bpow radix2 e - IZR base) in
  (accepts ratio fraction 1 word ->
    exists k, steps ratio fraction 1 word = IZR k /\ output = clamp_between lower upper (bpow radix2 e * IZR (base + k))) /\
  (FastPath.in_order lower upper -> FastPath.double_bound lower -> FastPath.double_bound upper -> FastPath.is_double value ->
    wide_accepts ratio (FastPath.kernel_clamp lower upper value) (bpow radix2 (- e)) word ->
    wide_output ratio (bpow radix2 e) (bpow radix2 (- e)) lower upper value word = FastPath.double output) /\
  (forall low high, lower = Some low -> upper = Some high -> low <= high ->
    Rabs low <= @narrow_steps@ * bpow radix2 e -> Rabs high <= @narrow_steps@ * bpow radix2 e ->
    FastPath.is_double low -> FastPath.is_double high -> FastPath.is_double value ->
    accepts ratio (FastPath.kernel_clamp lower upper value) (bpow radix2 (- e)) word ->
    narrow_output ratio (bpow radix2 e) (bpow radix2 (- e)) low high value word = output).
Proof.
  intros Hr He Hw Hu.
  refine (FastPath.fast_path_exact @fused@ @coefficients@ @ln2@ @per_ratio@ @rest@ @least_uniform@
    @largest_s@ @ln_approximation_bound@ @ln_rounding_bound@ @ln_error_bound@
    series_near_ln roundings_of_ln _ _ _ _ _ _ _ _ scale e lower upper value word u _ He Hw Hu).
  9: unfold greatest_ratio in Hr; lra.
  2: interval with (i_prec 60).
  all: numbers.
Qed.

(** It is no theorem about nothing: U = 1/2 is accepted. *)
Theorem half_is_accepted : accepts 1 0 1 (2 ^ 63).
Proof.
  refine (FastPath.half_is_accepted @fused@ @coefficients@ @ln2@ @per_ratio@ @rest@ @least_uniform@
    @largest_s@ @ln_approximation_bound@ @ln_rounding_bound@ @ln_error_bound@
    series_near_ln roundings_of_ln _ _ _ _ _ _ _ _).
  6: replace @ln2@ with @ln2_double@ by (simpl; lra); apply FastPath.scaled_is_double; lia.
  all: numbers.
Qed.
"""


def odd(value):
    """The odd mantissa and the exponent of a dyadic."""
    mantissa, exponent = value.numerator, 1 - value.denominator.bit_length()
    while mantissa % 2 == 0:
        mantissa, exponent = mantissa // 2, exponent + 1
    return mantissa, exponent


def whole(v, fused, proof, values, per_ratio, rest):
    name = f"Logarithm{v}"
    stated = proof.split("\nDefinition s1 ")[0] + "\nDefinition s1 "  # what is certified comes last
    abbreviations = {kind: [f"{name}.{each}" for each in re.findall(rf"^Definition ({kind}\d+) ", stated, re.MULTILINE)] for kind in "sif"}
    coefficients = [values[f"c{i}"] for i in range(6)]
    constants = "".join(f"  replace (float2R (Float2 ({mantissa}) ({exponent}))) with {exact(each)} by (unfold_bounds; lra).\n"
                        for each in [*coefficients, values["ln2"]] for mantissa, exponent in [odd(Fraction(float.fromhex(each)))])  # fmt: skip
    mantissa, exponent = odd(Fraction(float.fromhex(values["ln2"])))
    parts = {
        "variant": "Sums of a product are fused." if fused else "Products and sums are rounded one by one.",
        "fused": str(fused).lower(), "certificate": name, "constants": constants,
        "statements": ", ".join(reversed(abbreviations["s"])), "definitions": ", ".join(abbreviations["i"] + abbreviations["f"]),
        "coefficients": " ".join(map(exact, coefficients)),
        "ln2": exact(values["ln2"]), "ln2_double": f"(IZR {mantissa} * bpow radix2 ({exponent}))",
        "per_ratio": f"({ratio(per_ratio)})", "rest": f"({ratio(rest)})", "largest_s": exact(values["largest_s"]),
        "ln_approximation_bound": exact(cp.constant("ln_approximation_bound")), "ln_rounding_bound": exact(values["ln_rounding_bound"]),
        "ln_error_bound": exact(values["ln_error_bound"]), "least_uniform": exact(cp.constant("least_uniform")),
        "greatest_ratio": exact(cp.constant("greatest_ratio")),
        "narrow_steps": str(Fraction(float.fromhex(cp.constant("narrow_steps")))),
    }  # fmt: skip
    return re.sub(r"@(\w+)@", lambda match: parts[match.group(1)], WHOLE)


root = Fraction(float.fromhex("0x1.6a09e667f3bcep0"))
check_kernel()
values = cp.polynomial() | {"ln2": cp.constant("ln2"), "largest_s": cp.decimal_up((root - 1) / (root + 1))}
error = abs(Fraction(float.fromhex(values["ln2"])) - Fraction(Decimal(2).ln())) + Fraction(1, 10**60)
values |= {"ln2_error": cp.decimal_up(error), "ln_rounding_bound": cp.constant("ln_rounding_bound"),
           "ln_error_bound": cp.constant("ln_error_bound")}
per_ratio, rest = cp.margin()
(OUT / "Approximation.v").write_text(approximation(values))
for v, fused in enumerate([False, True]):
    values["variant"] = ""
    horner = [("p4", "c5 * z + c4"), ("p3", "p4 * z + c3"), ("p2", "p3 * z + c2"), ("p1", "p2 * z + c1"), ("p", "p1 * z + c0")]
    values["chain"] = "\n".join([cp.chain(horner, fused), "t rnd= e * ln2;", cp.chain([("l", "s * p + t")], fused)])
    proof = certificate(cp.filled("logarithm.gappa.in", values))
    (OUT / f"Logarithm{v}.v").write_text(named(proof))
    (OUT / f"FastPath{v}.v").write_text(whole(v, fused, proof, values, per_ratio, rest))
    values["chain"] = cp.chain([("y", "r * l + f")], fused)
    values["precision_ln_margin"] = cp.decimal_up(cp.number(cp.constant("precision_ln_margin")) - Fraction(1, 2**52))
    (OUT / f"Precision{v}.v").write_text(named(certificate(cp.filled("precision.gappa.in", values))))
