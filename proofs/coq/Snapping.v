(** Snapping in exact mode: the law of the output, and its privacy for every set
    of outputs, with and without clamps. *)
From Coq Require Import Reals ZArith List Lra Lia Permutation.
From Coquelicot Require Import Rbar Coquelicot.
From SnapDP Require Import Law Rounding Laplace.
Import ListNotations.
Open Scope R_scope.

(** n consecutive integers from a on. *)
Fixpoint zrange (a : Z) (n : nat) : list Z :=
  match n with O => [] | S n => a :: zrange (a + 1) n end.

Lemma in_zrange a n k : In k (zrange a n) <-> (a <= k < a + Z.of_nat n)%Z.
Proof.
  revert a. induction n as [|n IH]; intro a; simpl zrange.
  - simpl. lia.
  - simpl In. rewrite IH. lia.
Qed.

Lemma zrange_NoDup a n : NoDup (zrange a n).
Proof.
  revert a. induction n as [|n IH]; intro a; simpl; constructor; auto.
  rewrite in_zrange. lia.
Qed.

(** Every finite set of integers lies in a range around 0. *)
Lemma zrange_covers (l : list Z) : exists N, forall n k, (N <= n)%nat -> In k l ->
  (- Z.of_nat n <= k < Z.of_nat n)%Z.
Proof.
  induction l as [|a l [N IH]].
  - exists 0%nat. simpl. tauto.
  - exists (N + Z.abs_nat a + 1)%nat. intros n k Hn [<-|Hk].
    + lia.
    + apply IH; auto. lia.
Qed.

Lemma sumf_telescope (F : Z -> R) a n :
  sumf (fun k => F (k + 1)%Z - F k) (zrange a n) = F (a + Z.of_nat n)%Z - F a.
Proof.
  revert a. induction n as [|n IH]; intro a; simpl sumf.
  - rewrite Z.add_0_r. lra.
  - rewrite IH. replace (a + 1 + Z.of_nat n)%Z with (a + Z.of_nat (S n))%Z by lia. lra.
Qed.

Section Snapping.
Variables lam g : R.
Hypothesis lam_pos : 0 < lam.
Hypothesis g_pos : 0 < g.

(** The lower end of the cell of k; the upper end is that of k + 1. *)
Definition edge (k : Z) : R := (IZR k - / 2) * g.

Lemma edge_next k : edge (k + 1) = (IZR k + / 2) * g.
Proof. unfold edge. rewrite plus_IZR. field. Qed.

Lemma edge_le j k : (j <= k)%Z -> edge j <= edge k.
Proof. intro H. apply IZR_le in H. unfold edge. apply Rmult_le_compat_r; lra. Qed.

(** The law of the index k of the output k*g: P(y + L in the cell of k). *)
Definition snap_law (y : R) (k : Z) : R := prob lam y (edge k) (edge (k + 1)).

Lemma snap_law_cdf y k : snap_law y k = cdf lam (edge (k + 1) - y) - cdf lam (edge k - y).
Proof. reflexivity. Qed.

Lemma snap_law_nonneg y k : 0 <= snap_law y k.
Proof.
  apply (laplace_interval lam lam_pos y y (edge k) (edge (k + 1))). simpl. apply edge_le. lia.
Qed.

Lemma snap_range y a n :
  sumf (snap_law y) (zrange a n) = cdf lam (edge (a + Z.of_nat n) - y) - cdf lam (edge a - y).
Proof. exact (sumf_telescope (fun k => cdf lam (edge k - y)) a n). Qed.

Lemma snap_law_law y : law (snap_law y).
Proof.
  split; [apply snap_law_nonneg|].
  intros l Hl. destruct (zrange_covers l) as [N HN].
  apply Rle_trans with (sumf (snap_law y) (zrange (- Z.of_nat N) (2 * N))).
  - apply sumf_incl; auto; [apply snap_law_nonneg|].
    intros k Hk. apply in_zrange. specialize (HN N k (le_n N) Hk). lia.
  - rewrite snap_range.
    generalize (cdf_range lam lam_pos (edge (- Z.of_nat N + Z.of_nat (2 * N)) - y)).
    generalize (cdf_range lam lam_pos (edge (- Z.of_nat N) - y)). lra.
Qed.

Lemma snap_summable y : summable (snap_law y).
Proof. apply law_summable, snap_law_law. Qed.

(** A bound collects a half line. *)
Lemma edge_large y b : exists k0, forall k, (k0 <= k)%Z -> b <= edge k - y.
Proof.
  exists (ceil ((b + y) / g) + 1)%Z. intros k Hk. apply IZR_le in Hk. rewrite plus_IZR in Hk.
  generalize (ceil_ge ((b + y) / g)). intro H. unfold edge.
  assert ((b + y) / g * g <= (IZR k - / 2) * g) as H1 by (apply Rmult_le_compat_r; lra).
  replace ((b + y) / g * g) with (b + y) in H1 by (field; lra). lra.
Qed.

Theorem snap_upper y K :
  Pr (snap_law y) (fun k => K <= k)%Z = prob lam y (edge K) p_infty.
Proof.
  change (prob lam y (edge K) p_infty) with (1 - cdf lam (edge K - y)).
  apply Rle_antisym.
  - apply Pr_lub; [apply snap_summable|]. intros l Hl HS.
    destruct (zrange_covers l) as [N HN]. set (n := (N + Z.abs_nat K)%nat).
    apply Rle_trans with (sumf (snap_law y) (zrange K (2 * n))).
    + apply sumf_incl; auto; [apply snap_law_nonneg|]. intros k Hk. apply in_zrange.
      specialize (HS k Hk). specialize (HN n k ltac:(unfold n; lia) Hk). simpl in HS. unfold n in *. lia.
    + rewrite snap_range. generalize (cdf_range lam lam_pos (edge (K + Z.of_nat (2 * n)) - y)). lra.
  - apply Rnot_lt_le. intro H.
    destruct (cdf_large lam lam_pos (1 - cdf lam (edge K - y) - Pr (snap_law y) (fun k => (K <= k)%Z)))
      as [b Hb]; [lra|].
    destruct (edge_large y b) as [k0 Hk0].
    set (n := Z.abs_nat (k0 - K)).
    specialize (Hb (edge (K + Z.of_nat n) - y)).
    assert (sumf (snap_law y) (zrange K n) <= Pr (snap_law y) (fun k => (K <= k)%Z)) as HU.
    { apply Pr_ub; [apply snap_summable|apply zrange_NoDup|]. intros k Hk. apply in_zrange in Hk. lia. }
    rewrite snap_range in HU.
    assert (b <= edge (K + Z.of_nat n) - y) as HH by (apply Hk0; unfold n; lia).
    specialize (Hb HH). lra.
Qed.

Theorem snap_lower y K :
  Pr (snap_law y) (fun k => k <= K)%Z = prob lam y m_infty (edge (K + 1)).
Proof.
  change (prob lam y m_infty (edge (K + 1))) with (cdf lam (edge (K + 1) - y) - 0).
  apply Rle_antisym.
  - apply Pr_lub; [apply snap_summable|]. intros l Hl HS.
    destruct (zrange_covers l) as [N HN]. set (n := (N + Z.abs_nat K + 1)%nat).
    apply Rle_trans with (sumf (snap_law y) (zrange (K + 1 - Z.of_nat (2 * n)) (2 * n))).
    + apply sumf_incl; auto; [apply snap_law_nonneg|]. intros k Hk. apply in_zrange.
      specialize (HS k Hk). specialize (HN n k ltac:(unfold n; lia) Hk). simpl in HS. unfold n in *. lia.
    + rewrite snap_range. generalize (cdf_range lam lam_pos (edge (K + 1 - Z.of_nat (2 * n)) - y)).
      replace (K + 1 - Z.of_nat (2 * n) + Z.of_nat (2 * n))%Z with (K + 1)%Z by lia. lra.
  - apply Rnot_lt_le. intro H.
    destruct (cdf_small lam lam_pos (cdf lam (edge (K + 1) - y) - 0 - Pr (snap_law y) (fun k => (k <= K)%Z)))
      as [a Ha]; [lra|].
    destruct (edge_large (- y) (- a + g)) as [k0 Hk0].
    set (n := Z.abs_nat (k0 + K + 1)).
    specialize (Ha (edge (K + 1 - Z.of_nat n) - y)).
    assert (sumf (snap_law y) (zrange (K + 1 - Z.of_nat n) n) <= Pr (snap_law y) (fun k => (k <= K)%Z)) as HU.
    { apply Pr_ub; [apply snap_summable|apply zrange_NoDup|]. intros k Hk. apply in_zrange in Hk. lia. }
    rewrite snap_range in HU.
    replace (K + 1 - Z.of_nat n + Z.of_nat n)%Z with (K + 1)%Z in HU by lia.
    assert (edge (K + 1 - Z.of_nat n) - y <= a) as HH.
    { specialize (Hk0 (- (K + 1 - Z.of_nat n))%Z ltac:(unfold n; lia)).
      unfold edge in *. rewrite opp_IZR in Hk0. lra. }
    specialize (Ha HH). lra.
Qed.

Lemma snap_total y : total (snap_law y).
Proof.
  split; [apply snap_law_law|].
  rewrite (Pr_ext _ _ (fun k => (k <= 0)%Z \/ (0 + 1 <= k)%Z)).
  - rewrite Pr_union, snap_lower, snap_upper; [|apply snap_summable|intro a; lia].
    unfold prob. simpl. lra.
  - apply snap_summable.
  - intro a. split; auto. intros _. lia.
Qed.

(** ** Privacy *)
Theorem snap_dp y y' D : Rabs (y - y') <= D -> dp (D / lam) (snap_law y) (snap_law y').
Proof.
  intro H. apply dp_pointwise; [apply snap_summable|apply snap_summable|].
  intro k. apply laplace_interval_dp; auto. simpl. apply edge_le. lia.
Qed.

(** The release: the value clamped, noised, snapped, the output clamped. *)
Definition release (lower upper : option R) (y : R) : R -> R :=
  push (fun k => clamp_between lower upper (g * IZR k)) (snap_law (clamp_between lower upper y)).

Theorem release_total lower upper y : total (release lower upper y).
Proof. apply push_total, snap_total. Qed.

Lemma release_law lower upper y : law (release lower upper y).
Proof. apply release_total. Qed.

Theorem release_dp lower upper y y' D :
  Rabs (y - y') <= D -> dp (D / lam) (release lower upper y) (release lower upper y').
Proof.
  intro H. apply post_processing_dp; [apply snap_summable|apply snap_summable|].
  apply snap_dp. apply Rle_trans with (Rabs (y - y')); auto. apply clamp_between_stable.
Qed.

Theorem release_eps lower upper y y' D eps : 0 < eps -> D / eps <= lam ->
  Rabs (y - y') <= D -> dp eps (release lower upper y) (release lower upper y').
Proof.
  intros He HL H.
  apply dp_weaken with (D / lam).
  - apply push_summable, snap_summable.
  - apply Rmult_le_reg_r with lam; auto. replace (D / lam * lam) with D by (field; lra).
    apply Rmult_le_reg_r with (/ eps); [now apply Rinv_0_lt_compat|].
    replace (eps * lam * / eps) with lam by (field; lra). exact HL.
  - now apply release_dp.
Qed.

(** What the clamped outputs are, for bounds on the grid: cells inside, half lines at the ends. *)
Theorem release_inside lo hi y k : (lo < k < hi)%Z ->
  release (Some (g * IZR lo)) (Some (g * IZR hi)) y (g * IZR k) = snap_law (clamp_between (Some (g * IZR lo)) (Some (g * IZR hi)) y) k.
Proof.
  intro H. unfold release, push. rewrite <- (Pr_single (snap_law (clamp_between (Some (g * IZR lo)) (Some (g * IZR hi)) y)) k); [|apply snap_summable].
  apply Pr_ext; [apply snap_summable|]. intro j. rewrite clamp_between_both.
  assert (forall a b, (a < b)%Z -> g * IZR a < g * IZR b) as HM.
  { intros a b Hab. apply Rmult_lt_compat_l; auto. now apply IZR_lt. }
  assert (g * IZR lo < g * IZR k < g * IZR hi) as [H1 H2] by (split; apply HM; lia).
  destruct (Ztrichotomy j k) as [Hj|[Hj|Hj]].
  - assert (g * IZR j < g * IZR k) by (apply HM; lia). split; [|lia].
    unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - subst j. split; auto. intros _. apply clamp_id. lra.
  - assert (g * IZR k < g * IZR j) by (apply HM; lia). split; [|lia].
    unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

Theorem release_at_upper lo hi y : (lo < hi)%Z ->
  release (Some (g * IZR lo)) (Some (g * IZR hi)) y (g * IZR hi)
  = prob lam (clamp_between (Some (g * IZR lo)) (Some (g * IZR hi)) y) (edge hi) p_infty.
Proof.
  intro H. rewrite <- snap_upper. apply Pr_ext; [apply snap_summable|]. intro j. rewrite clamp_between_both.
  assert (forall a b, (a < b)%Z -> g * IZR a < g * IZR b) as HM.
  { intros a b Hab. apply Rmult_lt_compat_l; auto. now apply IZR_lt. }
  assert (g * IZR lo < g * IZR hi) by auto.
  destruct (Z_lt_le_dec j hi) as [Hj|Hj].
  - assert (g * IZR j < g * IZR hi) by auto. split; [|lia].
    unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
  - assert (g * IZR hi <= g * IZR j) by (apply Rmult_le_compat_l; [lra|now apply IZR_le]).
    split; auto. intros _. unfold clamp, Rmax, Rmin. repeat destruct Rle_dec; lra.
Qed.

(** ** Vectors: independent noise in each coordinate, L1 distance. *)
Fixpoint l1 (ys ys' : list R) : R :=
  match ys, ys' with y :: ys, y' :: ys' => Rabs (y - y') + l1 ys ys' | _, _ => 0 end.

Definition release_vector lower upper (ys : list R) : list R -> R := joint (map (release lower upper) ys).

Lemma release_vector_law lower upper ys : law (release_vector lower upper ys).
Proof.
  apply joint_law. intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). apply release_law.
Qed.

Theorem release_vector_total lower upper ys : total (release_vector lower upper ys).
Proof.
  apply joint_total. intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). apply release_total.
Qed.

Theorem release_vector_dp lower upper ys ys' : length ys = length ys' ->
  dp (l1 ys ys' / lam) (release_vector lower upper ys) (release_vector lower upper ys').
Proof.
  intro HL.
  assert (l1 ys ys' / lam = losses (map (fun yy => Rabs (fst yy - snd yy) / lam) (combine ys ys'))) as ->.
  { revert ys' HL. induction ys as [|y ys IH]; intros [|y' ys'] HL; simpl in *; try discriminate.
    - field. lra.
    - rewrite <- IH by lia. field. lra. }
  apply joint_dp.
  - intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). apply release_law.
  - intros p Hp. apply in_map_iff in Hp. destruct Hp as (y & <- & _). apply release_law.
  - revert ys' HL. induction ys as [|y ys IH]; intros [|y' ys'] HL; simpl in *; try discriminate; constructor; auto.
    simpl. apply release_dp. lra.
  - now rewrite !map_length.
Qed.
End Snapping.
