(** Rows of the test vectors, and when the executable specification agrees with one. *)
From Coq Require Import Reals ZArith List Bool Lra.
From Flocq Require Import Core.
From Interval Require Import Specific_ops Specific_stdz Specific_bigint.
From SnapDP Require Import Rounding Sampler Mechanism Decide.

(** Epsilon is epsilon_num / epsilon_den; the first [bit_count] bits of U are those of the integer [bits]. *)
Record row := Row { epsilon_num : Z; epsilon_den : Z; sensitivity : dyadic; lower : option dyadic; upper : option dyadic;
  value : dyadic; grid : option Z; sign : bool; bits : Z; bit_count : Z; out : dyadic }.

(** What a row claims of the algorithm on real numbers: every U with these bits gives this output. *)
Definition row_holds (r : row) : Prop :=
  let lam := scale (epsilon_num r) (epsilon_den r) (sensitivity r) in
  forall u : R, (0 < u)%R ->
  (d2r (Dyadic (bits r) (- bit_count r)) <= u <= d2r (Dyadic (bits r + 1) (- bit_count r)))%R ->
  run (d2r lam) (bpow radix2 (grid_exponent (grid r) lam)) (real_bound (lower r)) (real_bound (upper r)) (d2r (value r))
    (sign r) u = d2r (out r).

(** Machine integers that the kernel knows; their axioms are allowed for rows alone. *)
Module Floats := SpecificFloat BigIntRadix2.
Module Fast := Decide Floats.

(** Bits of precision beyond those of U: values may be many steps of the grid from 0. *)
Definition slack : positive := 128.

Definition equal (a b : dyadic) : bool := dle a b && dle b a.

Definition row_ok (r : row) : bool :=
  match Fast.output (Floats.PtoP (Z.to_pos (bit_count r) + slack)) (epsilon_num r) (epsilon_den r) (sensitivity r)
          (lower r) (upper r) (value r) (grid r) (sign r) (bits r) (bit_count r) with
  | Some computed => equal computed (out r)
  | None => false
  end.

Lemma equal_correct a b : equal a b = true -> d2r a = d2r b.
Proof.
  intro H. apply andb_prop in H. destruct H as [H1 H2].
  apply dle_correct in H1. apply dle_correct in H2. lra.
Qed.

Theorem row_ok_correct r : row_ok r = true -> row_holds r.
Proof.
  unfold row_ok. destruct (Fast.output _ _ _ _ _ _ _ _ _ _ _) as [computed|] eqn:E; [|discriminate].
  intros H u H0 Hu. rewrite <- (equal_correct _ _ H). exact (Fast.output_correct _ _ _ _ _ _ _ _ _ _ _ _ _ E H0 Hu).
Qed.

Corollary rows_ok_correct (rows : list row) : forallb row_ok rows = true -> forall r, In r rows -> row_holds r.
Proof. rewrite forallb_forall. intros Hok r Hin. apply row_ok_correct. auto. Qed.
