#!/usr/bin/env python3
"""certificates.py ROOT OUT: Gappa's certificates for the fast path and the theorems that join them, as Coq files.

The scripts are those of proofs/fast_path, filled by tools/check-proofs with the constants of the C++ headers. Gappa writes
a Coq proof of each; Coq checks all of it again. Files: Decision0.v and Decision1.v (products and sums rounded one by one,
and fused), Logarithm0.v, Logarithm1.v, Precision0.v, Precision1.v, FastPath0.v, FastPath1.v, Approximation.v."""

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


HEAD = """(** The fast path's decision for all ratios: the slices that Gappa proved, joined. *)
From Coq Require Import Reals ZArith Lra Lia.
From Flocq Require Import Core.
Require Import Gappa.Gappa_library.
Require Decision@v@.
Open Scope R_scope.
Notation rnd := (round radix2 (FLT_exp (-10000) 53) rndNE).
Definition y r l f := @y@.
Ltac from_gappa r_ l_ f_ :=
  match goal with h : _ < Rabs ?x |- _ => revert h; generalize (Rabs x) end;
  repeat match goal with H : _ <= _ <= _ |- _ => revert H end; generalize (rnd r_) (rnd l_) (rnd f_);
  intros;
  cbv [BND lower upper float2R Defs.F2R Defs.Fnum Defs.Fexp Gappa_definitions.Fnum Gappa_definitions.Fexp bpow Z.pow_pos
       Pos.iter Z.mul Pos.mul Pos.add radix_val radix2];
  repeat split; try lra; intros [_ h']; lra.
Ltac by_contradiction :=
  intros Hr Hl HL HF Hf;
  match goal with |- Rabs ?x <= ?b => destruct (Rle_or_lt (Rabs x) b) as [h|h]; [exact h|exfalso] end.
"""


def join(v, fused, scripts, certificates, values, per_ratio, rest):
    error = exact(values["ln_error_bound"])
    domain = (f"-1249/100 <= rnd l_ <= 0 -> - {error} <= rnd l_ - LN <= {error} -> "
              "-1 / 18014398509481984 <= rnd f_ - F <= 1 / 18014398509481984 -> -1/2 <= rnd f_ <= 1/2 ->")
    out = [HEAD.replace("@v@", str(v)).replace("@y@", "rnd (r * l + f)" if fused else "rnd (rnd (r * l) + f)")]
    for i, (script, proof) in enumerate(zip(scripts, certificates)):
        low, high = 1 + Fraction(i, cp.SLICES), 1 + Fraction(i + 1, cp.SLICES)
        digits, places = re.search(r"\|y - Y\| <= (\d+)e-(\d+)", script).groups()
        names = set(re.findall(r"Definition ([sfi]\d+) ", proof.split("Lemma l2")[0]))
        names = sorted(names, key=lambda n: ("sif".index(n[0]), int(n[1:])))
        unfolded = ", ".join(f"Decision{v}.S{i}.{n}" for n in names)
        out.append(f"""Lemma slice{i} r_ l_ LN f_ F : {ratio(low)} <= rnd r_ <= {ratio(high)} -> {domain}
  Rabs (y (rnd r_) (rnd l_) (rnd f_) - (rnd r_ * LN + F)) <= {digits} / 1{'0' * int(places)}.
Proof. by_contradiction. unfold y in h. apply (Decision{v}.S{i}.l1 r_ l_ LN f_ F). unfold {unfolded}. from_gappa r_ l_ f_. Qed.
""")
    out.append(f"""Definition margin (r : R) : R := r * ({ratio(per_ratio)}) + {ratio(rest)}.
Theorem decision r_ l_ LN f_ F : 1 <= rnd r_ <= 2 -> {domain}
  Rabs (y (rnd r_) (rnd l_) (rnd f_) - (rnd r_ * LN + F)) < margin (rnd r_).
Proof.
  intros Hr Hl HL HF Hf.""")
    for i in range(cp.SLICES):
        clear = f"clear h{i - 1}; " if i else ""
        out.append(f"""  destruct (Rle_or_lt (rnd r_) ({cp.SLICES + i + 1}/{cp.SLICES})) as [h{i}|h{i}];
    [apply Rle_lt_trans with (1 := slice{i} r_ l_ LN f_ F ltac:(split; lra) Hl HL HF Hf); unfold margin; lra|{clear}idtac].""")
    out.append("  exfalso; lra.\nQed.\n")
    out.append(f"""(** What the kernel accepts, Y nearer than 1/2 - margin to an integer k, is in the cell of k, strictly. *)
Theorem accepted r_ l_ LN f_ F k : 1 <= rnd r_ <= 2 -> {domain}
  Rabs (y (rnd r_) (rnd l_) (rnd f_) - IZR k) <= 1 / 2 - margin (rnd r_) ->
  IZR k - 1 / 2 < rnd r_ * LN + F < IZR k + 1 / 2.
Proof.
  intros Hr Hl HL HF Hf Hk. generalize (decision r_ l_ LN f_ F Hr Hl HL HF Hf).
  revert Hk. generalize (y (rnd r_) (rnd l_) (rnd f_)) (margin (rnd r_)) (rnd r_ * LN + F). intros Y m t.
  unfold Rabs. repeat destruct Rcase_abs; lra.
Qed.
""")
    return "\n".join(out)


root = Fraction(float.fromhex("0x1.6a09e667f3bcep0"))
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
    (OUT / f"Logarithm{v}.v").write_text(named(certificate(cp.filled("logarithm.gappa.in", values))))
    values["chain"] = cp.chain([("y", "r * l + f")], fused)
    scripts = []
    for i in range(cp.SLICES):
        values["slice"] = cp.slice_of_ratios(i, values["ln_error_bound"], per_ratio, rest)
        scripts.append(cp.filled("decision.gappa.in", values))
    certificates = [certificate(script) for script in scripts]
    modules = [f"Module S{i}.\n{proof.split(chr(10), 1)[1]}End S{i}.\n" for i, proof in enumerate(certificates)]
    (OUT / f"Decision{v}.v").write_text("Require Import Gappa.Gappa_library.\n" + "".join(modules))
    (OUT / f"FastPath{v}.v").write_text(join(v, fused, scripts, certificates, values, per_ratio, rest))
    values["precision_ln_margin"] = cp.decimal_up(cp.number(cp.constant("precision_ln_margin")) - Fraction(1, 2**52))
    (OUT / f"Precision{v}.v").write_text(named(certificate(cp.filled("precision.gappa.in", values))))
