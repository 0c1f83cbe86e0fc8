(** The statistics: how far they move when rows are added, removed or replaced, with the constants of the constructors. *)
From Coq Require Import Reals ZArith List Lra Lia Permutation Psatz.
From SnapDP Require Import Law Rounding Datasets Pipeline Steps.
Import ListNotations.
Open Scope R_scope.

(** The sensitivity of what is rounded to the grid g, when that of the exact value is c. *)
Definition on_grid (g c : R) : R := g * IZR (ceil (c / g)).

(** A stable value, rounded once to the grid (Lemma 2). *)
Lemma rounded_stable {X} domain (nx : near X) g c (f : X -> R) : 0 < g ->
  stable_in domain nx absolute c f -> stable_in domain nx absolute (on_grid g c) (fun v => round g (f v)).
Proof. intros Hg H d v w Hv Hw Hd. apply round_stable_at; auto. apply H; auto. Qed.

Definition within (a b : R) (v : list R) : Prop := Forall (fun x => a <= x <= b) v.
Definition within_size (n : nat) (a b : R) (v : list R) : Prop := within a b v /\ length v = n.
Definition pairs_within (a b c d : R) (v : list (R * R)) : Prop :=
  Forall (fun xy => a <= fst xy <= b /\ c <= snd xy <= d) v.
Definition pairs_within_size (n : nat) (a b c d : R) (v : list (R * R)) : Prop := pairs_within a b c d v /\ length v = n.

(** Sums of a function of each row, added or removed ... *)
Lemma sum_moves {A} (P : A -> Prop) phi c : 0 <= c -> (forall x, P x -> Rabs (phi x) <= c) ->
  stable_in (Forall P) symmetric absolute c (sumf phi).
Proof.
  intros Hc H d v w Hv Hw Hd. unfold absolute.
  apply Rle_trans with (c * dsym v w); [|now apply Rmult_le_compat_l].
  apply sum_stable. intros z Hz. apply H. rewrite Forall_forall in *. apply in_app_or in Hz. destruct Hz; auto.
Qed.

(** ... and replaced. *)
Lemma sum_moves_change_one {A} (P : A -> Prop) phi m M : m <= M -> (forall x, P x -> m <= phi x <= M) ->
  stable_in (Forall P) change_one absolute (M - m) (sumf phi).
Proof.
  intros Hm H d v w Hv Hw Hd. apply sum_stable_change_one; auto.
  intros z Hz. apply H. rewrite Forall_forall in *. apply in_app_or in Hz. destruct Hz; auto.
Qed.

Lemma average_moves {A} (P : A -> Prop) phi m M n : (0 < n)%nat -> m <= M -> (forall x, P x -> m <= phi x <= M) ->
  stable_in (fun v => Forall P v /\ length v = n) change_one absolute ((M - m) / INR n) (fun v => sumf phi v / INR n).
Proof.
  intros Hn Hm H d v w [Hv _] [Hw _] Hd. assert (0 < INR n) as Hp by now apply lt_0_INR.
  unfold absolute. replace (sumf phi v / INR n - sumf phi w / INR n) with ((sumf phi v - sumf phi w) / INR n) by (field; lra).
  unfold Rdiv at 1. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (left; now apply Rinv_0_lt_compat).
  replace ((M - m) / INR n * INR d) with ((M - m) * INR d * / INR n) by (field; lra).
  apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
  apply (sum_moves_change_one P phi m M Hm H d v w Hv Hw Hd).
Qed.

(** ** make_count *)
Definition count {A} (v : list A) : R := INR (length v).

Theorem make_count_stable A : stable_in everywhere symmetric absolute 1 (@count A).
Proof.
  intros d v w _ _ Hd. unfold absolute, count. rewrite <- !sumf_1.
  apply Rle_trans with (1 * dsym v w); [|now apply Rmult_le_compat_l; [lra|]].
  apply sum_stable. intros. rewrite Rabs_R1. lra.
Qed.

(** With a public size the count does not move. *)
Theorem make_count_stable_change_one A : stable_in everywhere change_one absolute 0 (@count A).
Proof. intros d v w _ _ [HL _]. unfold absolute, count. rewrite HL, Rminus_diag_eq, Rabs_R0 by auto. lra. Qed.

(** ** make_sum *)
Definition sum (v : list R) : R := sumf (fun x => x) v.

Lemma bound_of_sum a b x : a <= x <= b -> Rabs x <= Rmax (Rabs a) (Rabs b).
Proof. unfold Rmax, Rabs. repeat destruct Rle_dec; repeat destruct Rcase_abs; lra. Qed.

Theorem make_sum_stable g a b : 0 < g ->
  stable_in (within a b) symmetric absolute (on_grid g (Rmax (Rabs a) (Rabs b))) (fun v => round g (sum v)).
Proof.
  intro Hg. apply rounded_stable; auto. apply sum_moves.
  - apply Rle_trans with (1 := Rabs_pos a). apply Rmax_l.
  - intros x Hx. now apply bound_of_sum.
Qed.

Theorem make_sum_stable_change_one g a b : 0 < g -> a <= b ->
  stable_in (within a b) change_one absolute (on_grid g (b - a)) (fun v => round g (sum v)).
Proof. intros Hg Hab. apply rounded_stable; auto. apply sum_moves_change_one; auto. Qed.

(** ** make_mean and make_moment *)
Theorem make_mean_stable g n a b : 0 < g -> (0 < n)%nat -> a <= b ->
  stable_in (within_size n a b) change_one absolute (on_grid g ((b - a) / INR n)) (fun v => round g (sum v / INR n)).
Proof. intros Hg Hn Hab. apply rounded_stable; auto. now apply average_moves. Qed.

(** The least and the greatest k-th power over [a, b]. *)
Definition least_power_over (k : nat) (a b : R) : R :=
  if Nat.even k then (if Rlt_dec a 0 then if Rlt_dec 0 b then 0 ^ k else b ^ k else a ^ k) else a ^ k.
Definition greatest_power_over (k : nat) (a b : R) : R := if Nat.even k then Rmax (a ^ k) (b ^ k) else b ^ k.

Lemma powers_over k a b x : (1 <= k <= 4)%nat -> a <= x <= b ->
  least_power_over k a b <= x ^ k <= greatest_power_over k a b.
Proof.
  intros Hk Hx. unfold least_power_over, greatest_power_over.
  assert (forall y z : R, 0 <= y <= z -> y * y <= z * z) as Hsq by (intros; apply Rmult_le_compat; lra).
  assert (forall y z : R, y <= z <= 0 -> z * z <= y * y) as Hsq2.
  { intros y z Hyz. generalize (Hsq (- z) (- y) ltac:(lra)). lra. }
  assert (0 <= x * x) as H0 by nra.
  assert (0 <= a * a) as Ha0 by nra. assert (0 <= b * b) as Hb0 by nra.
  assert (x * x <= a * a \/ x * x <= b * b) as Hmax.
  { destruct (Rle_or_lt x 0); [left; apply Hsq2; lra|right; apply Hsq; lra]. }
  assert ((0 <= a -> a * a <= x * x) /\ (b <= 0 -> b * b <= x * x)) as [Ha Hb].
  { split; intro h; [apply Hsq; lra|apply Hsq2; lra]. }
  assert (k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%nat as [->|[->|[->| ->]]] by lia; simpl; rewrite ?Rmult_1_r.
  - lra.
  - split; [repeat destruct Rlt_dec; lra|]. unfold Rmax. destruct Rle_dec; lra.
  - split.
    + destruct (Rle_or_lt 0 a); [assert (0 <= x) by lra; nra|].
      destruct (Rle_or_lt 0 x); [assert (0 <= x * (x * x)) by nra; assert (a * (a * a) <= 0) by nra; lra|].
      assert (x * x <= a * a) by (apply Hsq2; lra). nra.
    + destruct (Rle_or_lt 0 x); [assert (x * x <= b * b) by (apply Hsq; lra); nra|].
      destruct (Rle_or_lt 0 b); [assert (x * (x * x) <= 0) by nra; assert (0 <= b * (b * b)) by nra; lra|].
      assert (b * b <= x * x) by (apply Hb; lra). nra.
  - replace (x * (x * (x * x))) with (x * x * (x * x)) by ring. replace (a * (a * (a * a))) with (a * a * (a * a)) by ring.
    replace (b * (b * (b * b))) with (b * b * (b * b)) by ring. split.
    + repeat destruct Rlt_dec.
      * nra.
      * apply Hsq. assert (b * b <= x * x) by (apply Hb; lra). lra.
      * apply Hsq. assert (a * a <= x * x) by (apply Ha; lra). lra.
    + assert (x * x * (x * x) <= a * a * (a * a) \/ x * x * (x * x) <= b * b * (b * b)) as H4.
      { destruct Hmax as [h|h]; [left|right]; apply Hsq; lra. }
      unfold Rmax. destruct Rle_dec; lra.
Qed.

Definition power_sum (k : nat) (v : list R) : R := sumf (fun x => x ^ k) v.

Theorem make_moment_stable g n k a b : 0 < g -> (0 < n)%nat -> (1 <= k <= 4)%nat -> a <= b ->
  stable_in (within_size n a b) change_one absolute
    (on_grid g ((greatest_power_over k a b - least_power_over k a b) / INR n)) (fun v => round g (power_sum k v / INR n)).
Proof.
  intros Hg Hn Hk Hab. apply rounded_stable; auto. apply average_moves; auto.
  - generalize (powers_over k a b a Hk ltac:(lra)). lra.
  - intros x Hx. now apply powers_over.
Qed.

(** ** make_centered_sum, make_centered_moment, make_centered_product *)
Definition middle (a b : R) : R := (a + b) / 2.

Lemma distance_to_middle a b x : a <= x <= b -> Rabs (x - middle a b) <= (b - a) / 2.
Proof. unfold middle. intro H. apply Rabs_le. lra. Qed.

(** The exact value is computed from power sums. *)
Definition centered_sum (a b : R) (v : list R) : R := sum v - count v * middle a b.

Lemma centered_sum_is a b v : centered_sum a b v = sumf (fun x => x - middle a b) v.
Proof.
  unfold centered_sum, sum, count. induction v as [|x v IH]; simpl length; [simpl; lra|]. rewrite S_INR. simpl. lra.
Qed.

Theorem make_centered_sum_stable g a b : 0 < g -> a <= b ->
  stable_in (within a b) symmetric absolute (on_grid g ((b - a) / 2)) (fun v => round g (centered_sum a b v)).
Proof.
  intros Hg Hab. apply rounded_stable; auto. intros d v w Hv Hw Hd. rewrite !centered_sum_is. revert Hv Hw Hd.
  apply sum_moves; [lra|]. intros x Hx. now apply distance_to_middle.
Qed.

Fixpoint binomial_sum (k j : nat) (c : R) (s : nat -> R) : R :=
  C k j * (- c) ^ (k - j) * s j + match j with O => 0 | S j => binomial_sum k j c s end.
Definition centered_moment (k : nat) (a b : R) (v : list R) : R := binomial_sum k k (middle a b) (fun j => power_sum j v).

Lemma binomial_at k c x : (1 <= k <= 4)%nat -> binomial_sum k k c (fun j => x ^ j) = (x - c) ^ k.
Proof.
  intro Hk. assert (k = 1 \/ k = 2 \/ k = 3 \/ k = 4)%nat as [->|[->|[->| ->]]] by lia;
    unfold binomial_sum, C, Binomial.C; simpl; field.
Qed.

Lemma binomial_sum_adds k j c x s t : (forall i, s i = x ^ i + t i) ->
  binomial_sum k j c s = binomial_sum k j c (fun i => x ^ i) + binomial_sum k j c t.
Proof.
  intro H. induction j as [|j IH]; cbn [binomial_sum]; rewrite H.
  - generalize (C k 0 * (- c) ^ (k - 0)). intro factor. ring.
  - rewrite IH. generalize (C k (S j) * (- c) ^ (k - S j)). intro factor. ring.
Qed.

Lemma binomial_sum_zero k j c : binomial_sum k j c (fun _ => 0) = 0.
Proof. induction j as [|j IH]; simpl binomial_sum; [ring|rewrite IH; ring]. Qed.

Lemma centered_moment_is k a b v : (1 <= k <= 4)%nat -> centered_moment k a b v = sumf (fun x => (x - middle a b) ^ k) v.
Proof.
  intro Hk. unfold centered_moment. induction v as [|x v IH].
  - apply binomial_sum_zero.
  - simpl sumf. rewrite (binomial_sum_adds k k _ x _ (fun j => power_sum j v)) by reflexivity.
    now rewrite IH, binomial_at.
Qed.

Theorem make_centered_moment_stable g k a b : 0 < g -> (1 <= k <= 4)%nat -> a <= b ->
  stable_in (within a b) symmetric absolute (on_grid g (((b - a) / 2) ^ k)) (fun v => round g (centered_moment k a b v)).
Proof.
  intros Hg Hk Hab. apply rounded_stable; auto. intros d v w Hv Hw Hd. rewrite !centered_moment_is by auto. revert Hv Hw Hd.
  apply sum_moves; [apply pow_le; lra|]. intros x Hx. rewrite <- RPow_abs.
  apply pow_incr. split; [apply Rabs_pos|now apply distance_to_middle].
Qed.

Definition sum_of_products (v : list (R * R)) : R := sumf (fun xy => fst xy * snd xy) v.
Definition centered_product (a b c d : R) (v : list (R * R)) : R :=
  sum_of_products v - middle c d * sum (map fst v) - middle a b * sum (map snd v) + count v * (middle a b * middle c d).

Lemma centered_product_is a b c d v :
  centered_product a b c d v = sumf (fun xy => (fst xy - middle a b) * (snd xy - middle c d)) v.
Proof.
  unfold centered_product, sum_of_products, sum, count. induction v as [|[x y] v IH]; [simpl; ring|].
  simpl length. rewrite S_INR. simpl. rewrite <- IH. ring.
Qed.

Theorem make_centered_product_stable g a b c d : 0 < g -> a <= b -> c <= d ->
  stable_in (pairs_within a b c d) symmetric absolute (on_grid g ((b - a) / 2 * ((d - c) / 2)))
    (fun v => round g (centered_product a b c d v)).
Proof.
  intros Hg Hab Hcd. apply rounded_stable; auto. intros n v w Hv Hw Hd. rewrite !centered_product_is. revert Hv Hw Hd.
  apply sum_moves; [apply Rmult_le_pos; lra|]. intros [x y] [Hx Hy]. simpl in *. rewrite Rabs_mult.
  apply Rmult_le_compat; try apply Rabs_pos; now apply distance_to_middle.
Qed.

(** ** make_variance: the 1/(n - 1) form, sensitivity (b - a)^2 / n *)
Definition variance (n : nat) (v : list R) : R := (power_sum 2 v - sum v * sum v / INR n) / (INR n - 1).

Lemma sum_range a b v : within a b v -> INR (length v) * a <= sum v <= INR (length v) * b.
Proof.
  induction 1 as [|x v Hx Hv IH]; [simpl; unfold sum; simpl; lra|].
  simpl length. rewrite S_INR. unfold sum in *. simpl. lra.
Qed.

Lemma squares_apart a b m x y : a <= m <= b -> a <= x <= b -> a <= y <= b ->
  Rabs ((x - m) * (x - m) - (y - m) * (y - m)) <= (b - a) * (b - a).
Proof.
  intros Hm Hx Hy. assert (forall z, a <= z <= b -> 0 <= (z - m) * (z - m) <= (b - a) * (b - a)) as H.
  { intros z Hz. assert (0 <= (b - a - (z - m)) * (b - a + (z - m))) by (apply Rmult_le_pos; lra). split; [apply Rle_0_sqr|lra]. }
  apply Rabs_le. generalize (H x Hx) (H y Hy). lra.
Qed.

Lemma variance_step n a b x y r : (2 <= n)%nat -> a <= x <= b -> a <= y <= b -> within a b r -> length (x :: r) = n ->
  Rabs (variance n (x :: r) - variance n (y :: r)) <= (b - a) * (b - a) / INR n.
Proof.
  intros Hn Hx Hy Hr HL. simpl in HL.
  assert (INR n - 1 = INR (length r)) as En by (rewrite <- HL, S_INR; ring).
  assert (1 <= INR (length r)) as H1 by (apply (le_INR 1); lia).
  set (m := sum r / INR (length r)).
  assert (a <= m <= b) as Hm.
  { generalize (sum_range a b r Hr). intro H. unfold m. split; apply Rmult_le_reg_r with (INR (length r)); try lra;
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
  assert (variance n (x :: r) - variance n (y :: r) = ((x - m) * (x - m) - (y - m) * (y - m)) / INR n) as ->.
  { unfold variance, power_sum, sum, m. simpl. rewrite En. assert (INR n = INR (length r) + 1) as -> by lra.
    unfold sum. field. lra. }
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. now apply squares_apart.
Qed.

Theorem make_variance_stable g n a b : 0 < g -> (2 <= n)%nat ->
  stable_in (within_size n a b) change_one absolute (on_grid g ((b - a) * (b - a) / INR n)) (fun v => round g (variance n v)).
Proof.
  intros Hg Hn. apply rounded_stable; auto. intros d v w [Hv Lv] [Hw _] Hd.
  apply (by_replaced_rows (fun x => a <= x <= b) (fun x y => Rabs (x - y))) with (n := n); auto.
  - apply absolute_metric.
  - assert (0 < INR n) by (apply lt_0_INR; lia). apply Rmult_le_pos; [apply Rle_0_sqr|left; now apply Rinv_0_lt_compat].
  - intros u u' _ HP. unfold variance, power_sum, sum. now rewrite !(sumf_perm _ _ _ HP).
  - intros x y r Hx Hy Hr HL. now apply variance_step.
Qed.

(** ** make_covariance: sensitivity (b - a)(d - c) / n *)
Definition covariance (n : nat) (v : list (R * R)) : R :=
  (sum_of_products v - sum (map fst v) * sum (map snd v) / INR n) / (INR n - 1).

(** The corner argument of the paper: with p - a = P and so on. *)
Lemma products_apart P P' Q Q' x y x' y' : 0 <= P -> 0 <= P' -> 0 <= Q -> 0 <= Q' ->
  - P <= x <= P' -> - Q <= y <= Q' -> - P <= x' <= P' -> - Q <= y' <= Q' ->
  x * y - x' * y' <= (P + P') * (Q + Q').
Proof.
  intros HP HP' HQ HQ' Hx Hy Hx' Hy'.
  assert (x * y <= P * Q \/ x * y <= P' * Q') as H1.
  { destruct (Rle_or_lt 0 x), (Rle_or_lt 0 y).
    - right. apply Rmult_le_compat; lra.
    - left. assert (0 <= P * Q) by nra. assert (x * y <= 0) by nra. lra.
    - left. assert (0 <= P * Q) by nra. assert (x * y <= 0) by nra. lra.
    - left. replace (x * y) with ((- x) * (- y)) by ring. apply Rmult_le_compat; lra. }
  assert (- (x' * y') <= P * Q' \/ - (x' * y') <= P' * Q) as H2.
  { destruct (Rle_or_lt 0 x'), (Rle_or_lt 0 y').
    - left. assert (0 <= P * Q') by nra. assert (0 <= x' * y') by nra. lra.
    - right. replace (- (x' * y')) with (x' * - y') by ring. apply Rmult_le_compat; lra.
    - left. replace (- (x' * y')) with (- x' * y') by ring. apply Rmult_le_compat; lra.
    - left. assert (0 <= P * Q') by nra. assert (0 <= x' * y') by nra. lra. }
  assert (0 <= P * Q) by nra. assert (0 <= P * Q') by nra. assert (0 <= P' * Q) by nra. assert (0 <= P' * Q') by nra.
  replace ((P + P') * (Q + Q')) with (P * Q + P * Q' + P' * Q + P' * Q') by ring.
  destruct H1, H2; lra.
Qed.

Lemma pairs_means a b c d r : pairs_within a b c d r ->
  INR (length r) * a <= sum (map fst r) <= INR (length r) * b /\ INR (length r) * c <= sum (map snd r) <= INR (length r) * d.
Proof.
  intro H. assert (within a b (map fst r) /\ within c d (map snd r)) as [H1 H2].
  { induction H as [|xy r Hx Hr [IH1 IH2]]; split; constructor; tauto. }
  rewrite <- (map_length fst r) at 1 2. rewrite <- (map_length snd r). split; [now apply sum_range|].
  rewrite map_length, <- (map_length snd r). now apply sum_range.
Qed.

Lemma covariance_step n a b c d xy xy' r : (2 <= n)%nat ->
  a <= fst xy <= b /\ c <= snd xy <= d -> a <= fst xy' <= b /\ c <= snd xy' <= d -> pairs_within a b c d r ->
  length (xy :: r) = n -> Rabs (covariance n (xy :: r) - covariance n (xy' :: r)) <= (b - a) * (d - c) / INR n.
Proof.
  intros Hn [Hx Hy] [Hx' Hy'] Hr HL. destruct xy as [x y], xy' as [x' y']. simpl in *.
  assert (INR n - 1 = INR (length r)) as En by (rewrite <- HL, S_INR; ring).
  assert (1 <= INR (length r)) as H1 by (apply (le_INR 1); lia).
  set (p := sum (map fst r) / INR (length r)). set (q := sum (map snd r) / INR (length r)).
  assert (a <= p <= b /\ c <= q <= d) as [Hp Hq].
  { destruct (pairs_means a b c d r Hr) as [Hs Ht]. unfold p, q.
    repeat split; apply Rmult_le_reg_r with (INR (length r)); try lra;
      unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra. }
  assert (covariance n ((x, y) :: r) - covariance n ((x', y') :: r)
          = ((x - p) * (y - q) - (x' - p) * (y' - q)) / INR n) as ->.
  { unfold covariance, sum_of_products, sum, p, q. simpl. rewrite En. assert (INR n = INR (length r) + 1) as -> by lra.
    unfold sum. field. lra. }
  unfold Rdiv. rewrite Rabs_mult, (Rabs_right (/ INR n)) by (left; apply Rinv_0_lt_compat; lra).
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
  replace ((b - a) * (d - c)) with ((p - a + (b - p)) * (q - c + (d - q))) by ring.
  generalize (products_apart (p - a) (b - p) (q - c) (d - q) (x - p) (y - q) (x' - p) (y' - q))
             (products_apart (p - a) (b - p) (q - c) (d - q) (x' - p) (y' - q) (x - p) (y - q)).
  intros A1 A2. specialize (A1 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  specialize (A2 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  apply Rabs_le. lra.
Qed.

Theorem make_covariance_stable g n a b c d : 0 < g -> (2 <= n)%nat -> a <= b -> c <= d ->
  stable_in (pairs_within_size n a b c d) change_one absolute (on_grid g ((b - a) * (d - c) / INR n))
    (fun v => round g (covariance n v)).
Proof.
  intros Hg Hn Hab Hcd. apply rounded_stable; auto. intros k v w [Hv Lv] [Hw _] Hd.
  apply (by_replaced_rows (fun xy => a <= fst xy <= b /\ c <= snd xy <= d) (fun x y => Rabs (x - y))) with (n := n); auto.
  - apply absolute_metric.
  - assert (0 < INR n) by (apply lt_0_INR; lia).
    apply Rmult_le_pos; [apply Rmult_le_pos; lra|left; now apply Rinv_0_lt_compat].
  - intros u u' _ HP. unfold covariance, sum_of_products, sum.
    now rewrite (sumf_perm _ _ _ HP), (sumf_perm _ _ _ (Permutation_map fst HP)), (sumf_perm _ _ _ (Permutation_map snd HP)).
  - intros x y r Hx Hy Hr HL. now apply covariance_step.
Qed.

(** ** make_histogram, make_distinct_count: in terms of the constructors *)
Theorem make_histogram_stable {A B} (bin : A -> B) bins : NoDup bins ->
  stable_in everywhere symmetric manhattan 1 (histogram bin bins) /\
  stable_in everywhere change_one manhattan 2 (histogram bin bins).
Proof.
  intro HB. split; intros d v w _ _ Hd; (split; [unfold histogram; now rewrite !map_length|]).
  - rewrite Rmult_1_l. apply Rle_trans with (2 := Hd). now apply histogram_stable.
  - now apply histogram_stable_change_one.
Qed.

Theorem make_distinct_count_stable {A B} (bin : A -> B) bins : NoDup bins ->
  stable_in everywhere symmetric absolute 1 (distinct bin bins) /\
  stable_in everywhere change_one absolute 1 (distinct bin bins).
Proof.
  intro HB. split; intros d v w _ _ Hd; unfold absolute; rewrite Rmult_1_l.
  - apply Rle_trans with (2 := Hd). now apply distinct_stable.
  - now apply distinct_stable_change_one.
Qed.

Lemma l1_app x y x' y' : length x = length y -> l1_distance (x ++ x') (y ++ y') = l1_distance x y + l1_distance x' y'.
Proof. revert y. induction x as [|a x IH]; intros [|b y] H; simpl in *; try discriminate; try lra. rewrite IH by lia. ring. Qed.

(** ** make_hierarchy: a row lies in one node of each level *)
Section Hierarchy.
Context {A : Type} (leaf : A -> nat) (branching leaves : nat).
Hypothesis branches : (2 <= branching)%nat.

(** The node of level l that holds a leaf: leaf / branching^l; and how many nodes that level has. *)
Definition node (l : nat) (x : A) : nat := (leaf x / branching ^ l)%nat.
Definition nodes (l : nat) : list nat := List.seq 0 (S ((leaves - 1) / branching ^ l)).
Definition level (l : nat) (v : list A) : list R := histogram (node l) (nodes l) v.
Definition hierarchy (levels : nat) (v : list A) : list R := flat_map (fun l => level l v) (List.seq 0 levels).

(** The counts of a level add up to those of the next. *)
Theorem level_above l v i : (forall x, In x v -> leaf x < leaves)%nat ->
  hist (map (node (S l)) v) i = sumf (fun j => hist (map (node l) v) j * ind ((j / branching)%nat = i)) (nodes l).
Proof.
  intro Hv. rewrite <- (hist_map (fun j => (j / branching)%nat) (map (node l) v) i (nodes l)).
  - rewrite map_map. f_equal. apply map_ext. intro x. unfold node.
    rewrite Nat.pow_succ_r', Nat.mul_comm, Nat.div_div; auto; [apply Nat.pow_nonzero; lia|lia].
  - apply seq_NoDup.
  - intros j Hj. apply in_map_iff in Hj. destruct Hj as (x & <- & Hx). apply in_seq. split; [lia|].
    simpl. apply Nat.lt_succ_r. apply Nat.div_le_mono; [apply Nat.pow_nonzero; lia|]. specialize (Hv x Hx). lia.
Qed.

Lemma hierarchy_levels c levels v w :
  (forall l, l1_distance (level l v) (level l w) <= c) ->
  length (hierarchy levels v) = length (hierarchy levels w) /\
  l1_distance (hierarchy levels v) (hierarchy levels w) <= INR levels * c.
Proof.
  intro H. unfold hierarchy. generalize 0%nat. induction levels as [|levels IH]; intro first; [simpl; split; [auto|lra]|].
  cbn [List.seq flat_map]. rewrite S_INR. destruct (IH (S first)) as [HL HD].
  assert (length (level first v) = length (level first w)) as E by (unfold level, histogram; now rewrite !map_length).
  split; [rewrite !app_length; lia|]. rewrite l1_app by auto. specialize (H first). lra.
Qed.

(** All levels under the symmetric distance; under change-one the released levels are all but the root. *)
Theorem make_hierarchy_stable levels :
  stable_in everywhere symmetric manhattan (INR levels) (hierarchy levels) /\
  stable_in everywhere change_one manhattan (2 * INR levels) (hierarchy levels).
Proof.
  split; intros d v w _ _ Hd.
  - apply hierarchy_levels. intro l. apply Rle_trans with (2 := Hd). apply histogram_stable, seq_NoDup.
  - unfold manhattan. replace (2 * INR levels * INR d) with (INR levels * (2 * INR d)) by ring.
    apply hierarchy_levels. intro l. apply histogram_stable_change_one; auto. apply seq_NoDup.
Qed.
End Hierarchy.

(** ** make_grouped: the statistic of every group; one row moves one group *)
Section Grouped.
Context {A B K : Type} (key : A -> option K) (rest : A -> B) (inner : list B -> list R) (dimension : nat) (c : R).
Variable P : B -> Prop.
Hypothesis c_nonneg : 0 <= c.
Hypothesis inner_dimension : forall u, length (inner u) = dimension.
Hypothesis inner_no_order : forall u u', Forall P u -> Permutation u u' -> inner u = inner u'.
Hypothesis inner_stable : forall x u, P x -> Forall P u -> l1_distance (inner (x :: u)) (inner u) <= c.

Definition belongs (k : K) (x : A) : bool := if decide (key x = Some k) then true else false.
Definition group (k : K) (v : list A) : list B := map rest (filter (belongs k) v).
Definition grouped (keys : list K) (v : list A) : list R := flat_map (fun k => inner (group k v)) keys.

Lemma grouped_length keys v : length (grouped keys v) = (length keys * dimension)%nat.
Proof. unfold grouped. induction keys as [|k keys IH]; simpl; auto. rewrite app_length, inner_dimension, IH. reflexivity. Qed.

Lemma l1_same_list x : l1_distance x x = 0.
Proof. induction x; simpl; auto. rewrite Rminus_diag_eq, Rabs_R0 by auto. lra. Qed.

Lemma l1_symmetric x y : l1_distance x y = l1_distance y x.
Proof. revert y. induction x as [|a x IH]; intros [|b y]; simpl; auto. now rewrite Rabs_minus_sym, IH. Qed.

Lemma group_domain k v : Forall (fun x => P (rest x)) v -> Forall P (group k v).
Proof.
  intro H. unfold group. induction H as [|x v Hx Hv IH]; simpl; auto. destruct (belongs k x); simpl; auto.
Qed.

Lemma filter_perm {X} (p : X -> bool) u v : Permutation u v -> Permutation (filter p u) (filter p v).
Proof.
  induction 1; simpl; auto.
  - destruct (p x); auto.
  - destruct (p x), (p y); auto. constructor.
  - now apply perm_trans with (filter p l').
Qed.

Lemma grouped_step keys x v : NoDup keys -> P (rest x) -> Forall (fun y => P (rest y)) v ->
  l1_distance (grouped keys (x :: v)) (grouped keys v) <= c.
Proof.
  intros HK Hx Hv. induction HK as [|k keys Hk HK IH]; simpl; [auto|].
  unfold grouped in *. simpl. rewrite l1_app by now rewrite !inner_dimension.
  unfold group at 1. simpl filter. unfold belongs at 1. destruct (decide (key x = Some k)) as [h|h].
  - assert (flat_map (fun k => inner (group k (x :: v))) keys = flat_map (fun k => inner (group k v)) keys) as ->.
    { clear IH. induction keys as [|k' keys IH]; simpl; auto. rewrite IH.
      - f_equal. f_equal. unfold group. simpl filter. unfold belongs at 1.
        destruct (decide (key x = Some k')) as [h'|h']; auto. exfalso. apply Hk. left. congruence.
      - intro Hi. apply Hk. now right.
      - now inversion HK. }
    rewrite l1_same_list, Rplus_0_r. simpl map. apply inner_stable; auto. now apply group_domain.
  - fold (group k v). rewrite l1_same_list. lra.
Qed.

Lemma l1_triangle x y z : length x = length y -> length y = length z ->
  l1_distance x z <= l1_distance x y + l1_distance y z.
Proof.
  revert y z. induction x as [|a x IH]; intros [|b y] [|e z] H1 H2; simpl in *; try discriminate; try lra.
  specialize (IH y z ltac:(lia) ltac:(lia)). replace (a - e) with (a - b + (b - e)) by ring.
  generalize (Rabs_triang (a - b) (b - e)). lra.
Qed.

Theorem make_grouped_stable keys : NoDup keys ->
  stable_in (Forall (fun x => P (rest x))) symmetric manhattan c (grouped keys).
Proof.
  intros HK d v w Hv Hw Hd. split; [now rewrite !grouped_length|].
  destruct (symmetric_shape v w) as (common & more & less & H1 & H2 & H3).
  assert (forall u u', Forall (fun x => P (rest x)) u -> Permutation u u' -> grouped keys u = grouped keys u') as Hperm.
  { intros u u' Hu HP. unfold grouped. clear HK. induction keys as [|k ks IH]; simpl; auto. rewrite IH. f_equal.
    apply inner_no_order; [now apply group_domain|]. unfold group. apply Permutation_map, filter_perm, HP. }
  assert (forall extra, Forall (fun x => P (rest x)) (common ++ extra) ->
    l1_distance (grouped keys (common ++ extra)) (grouped keys common) <= c * INR (length extra)) as H.
  { induction extra as [|x extra IH]; intro HP.
    - rewrite app_nil_r, l1_same_list. simpl. lra.
    - assert (Permutation (common ++ x :: extra) (x :: common ++ extra)) as Hm by (symmetry; apply Permutation_middle).
      rewrite (Hperm _ _ HP Hm). apply (Forall_perm _ _ _ Hm) in HP. inversion HP as [|? ? Hx Hr]. subst.
      apply Rle_trans with (1 := l1_triangle _ (grouped keys (common ++ extra)) _ ltac:(now rewrite !grouped_length)
        ltac:(now rewrite !grouped_length)).
      simpl length. rewrite S_INR. specialize (IH Hr). generalize (grouped_step keys x (common ++ extra) HK Hx Hr). lra. }
  rewrite (Hperm _ _ Hv H1), (Hperm _ _ Hw H2).
  apply Rle_trans with (1 := l1_triangle _ (grouped keys common) _ ltac:(now rewrite !grouped_length)
    ltac:(now rewrite !grouped_length)).
  rewrite (l1_symmetric (grouped keys common)).
  generalize (H more (Forall_perm _ _ _ H1 Hv)) (H less (Forall_perm _ _ _ H2 Hw)). intros A1 A2.
  apply Rle_trans with (c * INR (length more + length less)); [rewrite plus_INR; lra|].
  apply Rmult_le_compat_l; auto. unfold symmetric in Hd. lra.
Qed.
End Grouped.
