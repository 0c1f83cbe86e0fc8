(** Rounding to a grid, ties upward, and Lemma 2 of proofs/README.md. *)
From Coq Require Import Reals ZArith Lra Lia R_Ifp.
Open Scope R_scope.

Definition floor (x : R) : Z := Int_part x.

Lemma floor_bounds x : IZR (floor x) <= x < IZR (floor x) + 1.
Proof. unfold floor. generalize (base_Int_part x). lra. Qed.

Lemma floor_spec x k : floor x = k <-> IZR k <= x < IZR k + 1.
Proof.
  split.
  - intros <-. apply floor_bounds.
  - intro H. generalize (floor_bounds x). intro H'.
    assert (IZR (floor x) < IZR (k + 1)) as H1 by (rewrite plus_IZR; lra).
    assert (IZR k < IZR (floor x + 1)) as H2 by (rewrite plus_IZR; lra).
    apply lt_IZR in H1. apply lt_IZR in H2. lia.
Qed.

Lemma floor_IZR k : floor (IZR k) = k.
Proof. apply floor_spec. lra. Qed.

Lemma floor_add x k : floor (x + IZR k) = (floor x + k)%Z.
Proof. apply floor_spec. rewrite plus_IZR. generalize (floor_bounds x). lra. Qed.

Lemma floor_le x y : x <= y -> (floor x <= floor y)%Z.
Proof.
  intro H. apply Z.lt_succ_r. apply lt_IZR. rewrite succ_IZR.
  generalize (floor_bounds x) (floor_bounds y). lra.
Qed.

Lemma floor_ge k x : (k <= floor x)%Z <-> IZR k <= x.
Proof.
  split; intro H.
  - apply IZR_le in H. generalize (floor_bounds x). lra.
  - rewrite <- (floor_IZR k). now apply floor_le.
Qed.

Definition ceil (x : R) : Z := (- floor (- x))%Z.
Lemma ceil_ge x : x <= IZR (ceil x).
Proof. unfold ceil. rewrite opp_IZR. generalize (floor_bounds (- x)). lra. Qed.
Lemma ceil_least x k : x <= IZR k -> (ceil x <= k)%Z.
Proof.
  intro H. unfold ceil. enough (- k <= floor (- x))%Z by lia.
  apply floor_ge. rewrite opp_IZR. lra.
Qed.

(** The index of the multiple of g that x is rounded to, and that multiple. *)
Definition index (g x : R) : Z := floor (x / g + / 2).
Definition round (g x : R) : R := g * IZR (index g x).

(** Cells are closed below and open above. *)
Lemma index_spec g x k : 0 < g ->
  index g x = k <-> (IZR k - / 2) * g <= x < (IZR k + / 2) * g.
Proof.
  intro Hg. unfold index. rewrite floor_spec.
  assert (x = x / g * g) as E by (field; lra).
  split; intros [H1 H2]; split.
  - rewrite E. apply Rmult_le_compat_r; lra.
  - rewrite E. apply Rmult_lt_compat_r; lra.
  - rewrite E in H1. apply Rmult_le_reg_r in H1; lra.
  - rewrite E in H2. apply Rmult_lt_reg_r in H2; lra.
Qed.

Lemma index_ge g x k : 0 < g -> (k <= index g x)%Z <-> (IZR k - / 2) * g <= x.
Proof.
  intro Hg. unfold index. rewrite floor_ge.
  assert (x = x / g * g) as E by (field; lra). split; intro H.
  - rewrite E. apply Rmult_le_compat_r; lra.
  - rewrite E in H. apply Rmult_le_reg_r in H; lra.
Qed.

Lemma index_le g x y : 0 < g -> x <= y -> (index g x <= index g y)%Z.
Proof.
  intros Hg H. apply floor_le. apply Rplus_le_compat_r.
  apply Rmult_le_compat_r; auto. left. now apply Rinv_0_lt_compat.
Qed.

Lemma index_add g x k : 0 < g -> index g (x + IZR k * g) = (index g x + k)%Z.
Proof.
  intro Hg. unfold index. rewrite <- floor_add. f_equal. field. lra.
Qed.

Lemma round_near g x : 0 < g -> x - g / 2 < round g x <= x + g / 2.
Proof.
  intro Hg. unfold round. destruct (index_spec g x (index g x) Hg) as [H _].
  specialize (H eq_refl). lra.
Qed.

(** Lemma 2. *)
Lemma round_multiple g m x y : 0 < g -> Rabs (x - y) <= IZR m * g ->
  (Z.abs (index g x - index g y) <= m)%Z.
Proof.
  intros Hg H.
  assert (- (IZR m * g) <= x - y <= IZR m * g) as [H1 H2]
    by (unfold Rabs in H; destruct (Rcase_abs (x - y)); lra).
  assert (index g x <= index g y + m)%Z by (rewrite <- index_add; auto; apply index_le; lra).
  assert (index g y <= index g x + m)%Z by (rewrite <- index_add; auto; apply index_le; lra).
  lia.
Qed.

Theorem round_stable g d x y : 0 < g -> Rabs (x - y) <= d ->
  Rabs (round g x - round g y) <= g * IZR (ceil (d / g)).
Proof.
  intros Hg H. unfold round. rewrite <- Rmult_minus_distr_l, <- minus_IZR.
  rewrite Rabs_mult, (Rabs_right g) by lra. apply Rmult_le_compat_l; [lra|].
  rewrite <- abs_IZR. apply IZR_le. apply round_multiple; auto.
  apply Rle_trans with d; [assumption|]. replace d with (d / g * g) at 1 by (field; lra).
  apply Rmult_le_compat_r; [lra|apply ceil_ge].
Qed.

(** Ties to even do not have this property: 1/2 and 3/2 go to 0 and 2. *)
Definition ties_to_even (r : R -> Z) : Prop :=
  forall x, Rabs (x - IZR (r x)) <= / 2 /\ (Rabs (x - IZR (r x)) = / 2 -> Z.even (r x) = true).

Theorem ties_to_even_is_not_stable r : ties_to_even r ->
  r (/ 2) = 0%Z /\ r (3 / 2) = 2%Z /\ ~ (forall x y, Rabs (x - y) <= 1 -> (Z.abs (r x - r y) <= 1)%Z).
Proof.
  intro H.
  assert (forall x k, x = IZR k + / 2 -> r x = k \/ r x = (k + 1)%Z) as Hn.
  { intros x k E. destruct (H x) as [H1 _].
    assert (- / 2 <= x - IZR (r x) <= / 2) as [H2 H3]
      by (unfold Rabs in H1; destruct (Rcase_abs (x - IZR (r x))); lra).
    assert (k <= r x)%Z by (apply le_IZR; lra).
    assert (r x <= k + 1)%Z by (apply le_IZR; rewrite plus_IZR; lra). lia. }
  assert (r (/ 2) = 0%Z) as E0.
  { destruct (Hn (/ 2) 0%Z) as [E|E]; [lra|auto|].
    destruct (H (/ 2)) as [_ H1]. rewrite E in H1. simpl in H1.
    assert (false = true) by (apply H1; unfold Rabs; destruct Rcase_abs; lra). discriminate. }
  assert (r (3 / 2) = 2%Z) as E1.
  { destruct (Hn (3 / 2) 1%Z) as [E|E]; [lra| |auto].
    destruct (H (3 / 2)) as [_ H1]. rewrite E in H1. simpl in H1.
    assert (false = true) by (apply H1; unfold Rabs; destruct Rcase_abs; lra). discriminate. }
  repeat split; auto. intro Hs. specialize (Hs (/ 2) (3 / 2)).
  rewrite E0, E1 in Hs. simpl in Hs. assert (2 <= 1)%Z; [|lia].
  apply Hs. unfold Rabs. destruct Rcase_abs; lra.
Qed.

(** Clamping. *)
Definition clamp (lo hi x : R) : R := Rmax lo (Rmin hi x).

Lemma clamp_range lo hi x : lo <= hi -> lo <= clamp lo hi x <= hi.
Proof. intro H. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Lemma clamp_id lo hi x : lo <= x <= hi -> clamp lo hi x = x.
Proof. intro H. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra. Qed.

Theorem clamp_stable lo hi x y : Rabs (clamp lo hi x - clamp lo hi y) <= Rabs (x - y).
Proof.
  unfold clamp, Rmax, Rmin, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.

(** Two bounds, of which each may be absent. *)
Definition clamp_between (lower upper : option R) (x : R) : R :=
  let y := match upper with Some u => Rmin u x | None => x end in
  match lower with Some l => Rmax l y | None => y end.

Lemma clamp_between_both lower upper x : clamp_between (Some lower) (Some upper) x = clamp lower upper x.
Proof. reflexivity. Qed.

Lemma clamp_between_stable lower upper x y :
  Rabs (clamp_between lower upper x - clamp_between lower upper y) <= Rabs (x - y).
Proof.
  destruct lower, upper; unfold clamp_between, Rmax, Rmin, Rabs; repeat destruct Rle_dec; repeat destruct Rcase_abs; lra.
Qed.

Lemma clamp_between_le lower upper x y : x <= y -> clamp_between lower upper x <= clamp_between lower upper y.
Proof.
  intro H. destruct lower, upper; unfold clamp_between, Rmax, Rmin; repeat destruct Rle_dec; lra.
Qed.

(** The index decided from an enclosure: equal at both ends, equal inside. *)
Theorem enclosure_decides g a b z k : 0 < g -> a <= z <= b ->
  index g a = k -> index g b = k -> index g z = k.
Proof.
  intros Hg [H1 H2] Ea Eb.
  generalize (index_le g a z Hg H1) (index_le g z b Hg H2). lia.
Qed.
