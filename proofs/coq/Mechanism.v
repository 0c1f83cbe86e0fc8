(** make_snapping, exact mode, as one algorithm: what is computed from a fair sign and a uniform real, that its outputs have the
    law [release], and that this law is private. *)
From Coq Require Import Reals ZArith List Lra Lia Classical.
From Coquelicot Require Import Rbar Coquelicot.
From SnapDP Require Import Law Rounding Laplace Snapping Sampler.
Import ListNotations.
Open Scope R_scope.

(** [p] is the probability of an event of a fair sign ([true] is +1) and, independently, a uniform real on (0, 1). *)
Definition sampled (event : bool -> R -> Prop) (p : R) : Prop :=
  exists plus minus, uniform (event true) plus /\ uniform (event false) minus /\ p = (plus + minus) / 2.

Lemma uniform_ext (E F : R -> Prop) p : (forall u, 0 < u < 1 -> (E u <-> F u)) -> uniform E p -> uniform F p.
Proof.
  intros H HE. eapply is_RInt_ext; [|exact HE]. intros u Hu.
  rewrite Rmin_left, Rmax_right in Hu by lra. specialize (H u Hu).
  unfold ind. destruct (decide (E u)), (decide (F u)); tauto.
Qed.

Lemma uniform_complement (E : R -> Prop) p : uniform E p -> uniform (fun u => ~ E u) (1 - p).
Proof.
  intro H. unfold uniform in *.
  generalize (is_RInt_minus (V := R_NormedModule) _ _ 0 1 _ _ (is_RInt_const (V := R_NormedModule) 0 1 1) H).
  unfold minus, plus, opp, scal; simpl; unfold mult; simpl.
  replace ((1 - 0) * 1 + - p) with (1 - p) by ring.
  intro HI. eapply is_RInt_ext; [|exact HI]. intros u _. simpl.
  unfold ind. destruct (decide (E u)), (decide (~ E u)); try lra; tauto.
Qed.

Lemma uniform_never (E : R -> Prop) : (forall u, 0 < u < 1 -> ~ E u) -> uniform E 0.
Proof.
  intro H. replace 0 with (0 - 0) by ring. apply uniform_interval; try lra; intros u Hu; try lra. apply H. lra.
Qed.

Lemma uniform_always (E : R -> Prop) : (forall u, 0 < u < 1 -> E u) -> uniform E 1.
Proof.
  intro H. replace 1 with (1 - 0) by ring. apply uniform_interval; try lra; intros u Hu; try lra. apply H. lra.
Qed.

(** Two events that the same probability is shown of have it: an integral has one value. *)
Lemma uniform_unique (E : R -> Prop) p p' : uniform E p -> uniform E p' -> p = p'.
Proof. intros H H'. unfold uniform in *. rewrite <- (is_RInt_unique _ _ _ _ H). now apply is_RInt_unique. Qed.

Theorem sampled_unique event p p' : sampled event p -> sampled event p' -> p = p'.
Proof.
  intros (a & b & Ha & Hb & ->) (a' & b' & Ha' & Hb' & ->).
  rewrite (uniform_unique _ _ _ Ha Ha'), (uniform_unique _ _ _ Hb Hb'). reflexivity.
Qed.

(** ** Sets of integers without gaps *)
Lemma least_element (C : Z -> Prop) k : C k ->
  (exists m, C m /\ forall j, C j -> (m <= j)%Z) \/ (forall m, exists j, (j <= m)%Z /\ C j).
Proof.
  intro Hk. destruct (classic (forall m, exists j, (j <= m)%Z /\ C j)) as [h|h]; [now right|left].
  apply not_all_ex_not in h. destruct h as [b Hb].
  assert (forall j, C j -> (b < j)%Z) as Hlow.
  { intros j Hj. apply Z.lt_nge. intro h. apply Hb. now exists j. }
  assert (forall n j, C j -> (j <= b + Z.of_nat n)%Z -> exists m, C m /\ forall i, C i -> (m <= i)%Z) as H.
  { induction n as [|n IH]; intros j Hj Hn.
    - specialize (Hlow j Hj). lia.
    - destruct (classic (exists i, C i /\ (i < j)%Z)) as [(i & Hi & Hij)|h].
      + apply (IH i); auto. lia.
      + exists j. split; auto. intros i Hi. apply Z.le_ngt. intro h'. apply h. now exists i. }
  apply (H (Z.to_nat (k - b)) k); auto. specialize (Hlow k Hk). lia.
Qed.

Definition from (a : option Z) (k : Z) : Prop := match a with Some a => (a <= k)%Z | None => True end.
Definition upto (b : option Z) (k : Z) : Prop := match b with Some b => (k <= b)%Z | None => True end.

Lemma convex_set (C : Z -> Prop) : (forall i j k, (i <= j <= k)%Z -> C i -> C k -> C j) ->
  (forall k, ~ C k) \/ exists a b, (forall k, C k <-> from a k /\ upto b k) /\ exists k, C k.
Proof.
  intro Hc. destruct (classic (exists k, C k)) as [[k Hk]|h].
  2:{ left. intros k Hk. apply h. now exists k. }
  right.
  assert (exists a, forall j, (j <= k)%Z -> (C j <-> from a j)) as [a Ha].
  { destruct (least_element C k Hk) as [(m & Hm & Hl)|H].
    - exists (Some m). intros j Hj. simpl. split; [apply Hl|]. intro h. apply (Hc m j k); auto.
    - exists None. intros j Hj. simpl. split; auto. intros _. destruct (H j) as (i & Hi & Ci). apply (Hc i j k); auto. }
  assert (exists b, forall j, (k <= j)%Z -> (C j <-> upto b j)) as [b Hb].
  { destruct (least_element (fun j => C (- j)%Z) (- k)) as [(m & Hm & Hl)|H].
    - now rewrite Z.opp_involutive.
    - exists (Some (- m)%Z). intros j Hj. simpl. split.
      + intro Cj. assert (m <= - j)%Z; [|lia]. apply Hl. now rewrite Z.opp_involutive.
      + intro h. apply (Hc k j (- m)%Z); auto.
    - exists None. intros j Hj. simpl. split; auto. intros _.
      destruct (H (- j)%Z) as (i & Hi & Ci). apply (Hc k j (- i)%Z); auto. lia. }
  exists a, b. split; [|now exists k]. intro j.
  assert (from a k /\ upto b k) as [Hak Hbk] by (split; [apply Ha|apply Hb]; auto; lia).
  destruct (Z_le_gt_dec j k) as [h|h].
  - rewrite Ha by lia. split; [|tauto]. intro H. split; auto. destruct b; simpl in *; lia.
  - rewrite Hb by lia. split; [|tauto]. intro H. split; auto. destruct a; simpl in *; lia.
Qed.

Section Mechanism.
Variables scale grid : R.
Hypothesis scale_pos : 0 < scale.
Hypothesis grid_pos : 0 < grid.

(** What the mechanism computes. *)
Definition run (lower upper : option R) (value : R) (sign : bool) (u : R) : R :=
  clamp_between lower upper (grid * IZR (snap scale grid (clamp_between lower upper value) sign u)).

(** ** The noise on half lines *)
Lemma below_cut x : uniform (fun u => scale * ln u < x) (cut scale x).
Proof.
  generalize (cut_range scale x). intro H. replace (cut scale x) with (cut scale x - 0) by ring.
  apply uniform_interval; try lra; intros u Hu; try lra.
  - apply cut_spec; auto; lra.
  - intro h. apply cut_spec in h; auto; lra.
Qed.

Lemma upto_cut x : uniform (fun u => scale * ln u <= x) (cut scale x).
Proof.
  generalize (cut_range scale x). intro H. replace (cut scale x) with (cut scale x - 0) by ring.
  apply uniform_interval; try lra; intros u Hu; try lra.
  - left. apply cut_spec; auto; lra.
  - intros [h|h].
    + apply cut_spec in h; auto; lra.
    + assert (u = exp (x / scale)) as E.
      { rewrite <- (exp_ln u) by lra. f_equal. rewrite <- h. field. lra. }
      assert (cut scale x = u); [|lra]. unfold cut. rewrite <- E. apply Rmin_right. lra.
Qed.

Lemma noise_below value b :
  sampled (fun s u => value + noise scale s u < b) (prob scale value m_infty b).
Proof.
  exists (cut scale (b - value)), (1 - cut scale (- (b - value))). split; [|split].
  - apply uniform_ext with (2 := below_cut (b - value)). intros u _. simpl. lra.
  - apply uniform_ext with (2 := uniform_complement _ _ (upto_cut (- (b - value)))). intros u _. simpl. lra.
  - unfold prob. simpl. fold (b - value). rewrite cdf_cut by auto. lra.
Qed.

Lemma sampled_ext (E F : bool -> R -> Prop) p :
  (forall s u, 0 < u < 1 -> (E s u <-> F s u)) -> sampled E p -> sampled F p.
Proof.
  intros H (a & b & Ha & Hb & ->). exists a, b. split; [|split; auto].
  - apply uniform_ext with (2 := Ha). intros u Hu. auto.
  - apply uniform_ext with (2 := Hb). intros u Hu. auto.
Qed.

Lemma sampled_complement (E : bool -> R -> Prop) p : sampled E p -> sampled (fun s u => ~ E s u) (1 - p).
Proof.
  intros (a & b & Ha & Hb & ->). exists (1 - a), (1 - b). split; [|split; [|lra]]; now apply uniform_complement.
Qed.

(** P(a <= value + noise < b), for ends that may be infinite. *)
Theorem noise_in value (a b : Rbar) : Rbar_le a b ->
  sampled (fun s u => Rbar_le a (value + noise scale s u) /\ Rbar_lt (value + noise scale s u) b) (prob scale value a b).
Proof.
  intro H. destruct a as [a| |], b as [b| |]; simpl in H; try tauto.
  - destruct (noise_law scale scale_pos value a b H) as (p & m & Hp & Hm & E). exists p, m. repeat split; auto.
  - apply sampled_ext with (E := fun s u => ~ (value + noise scale s u < a)).
    + intros s u _. simpl. split; [intro h; split; auto; lra|lra].
    + replace (prob scale value a p_infty) with (1 - prob scale value m_infty a) by (unfold prob; simpl; lra).
      apply sampled_complement, noise_below.
  - replace (prob scale value p_infty p_infty) with 0 by (unfold prob; simpl; lra).
    exists 0, 0. repeat split; try lra; apply uniform_never; simpl; tauto.
  - apply sampled_ext with (E := fun s u => value + noise scale s u < b); [|apply noise_below].
    intros s u _. simpl. tauto.
  - replace (prob scale value m_infty p_infty) with 1 by (unfold prob; simpl; lra).
    exists 1, 1. repeat split; try lra; apply uniform_always; simpl; auto.
  - replace (prob scale value m_infty m_infty) with 0 by (unfold prob; simpl; lra).
    exists 0, 0. repeat split; try lra; apply uniform_never; simpl; tauto.
Qed.

(** ** Runs of indices *)
Definition first_edge (a : option Z) : Rbar := match a with Some a => Finite (edge grid a) | None => m_infty end.
Definition last_edge (b : option Z) : Rbar := match b with Some b => Finite (edge grid (b + 1)) | None => p_infty end.

Lemma index_from a z : from a (index grid z) <-> Rbar_le (first_edge a) z.
Proof. destruct a; simpl; [apply index_ge; auto|tauto]. Qed.

Lemma index_upto b z : upto b (index grid z) <-> Rbar_lt z (last_edge b).
Proof.
  destruct b as [b|]; simpl; [|tauto].
  generalize (index_ge grid z (b + 1) grid_pos). fold (edge grid (b + 1)). intro H.
  split; intro h.
  - apply Rnot_le_lt. intro h'. apply H in h'. lia.
  - assert (~ (b + 1 <= index grid z)%Z); [|lia]. rewrite H. lra.
Qed.

Lemma edges_ordered a b k : from a k -> upto b k -> Rbar_le (first_edge a) (last_edge b).
Proof. destruct a, b; simpl; auto. intros. apply edge_le; auto. lia. Qed.

Lemma snap_law_between value a b k : from a k -> upto b k ->
  Pr (snap_law scale grid value) (fun j => from a j /\ upto b j) = prob scale value (first_edge a) (last_edge b).
Proof.
  intros Ha Hb. pose proof (snap_summable scale grid scale_pos grid_pos value) as HS.
  destruct a as [a|], b as [b|]; simpl from; simpl upto; simpl first_edge; simpl last_edge; simpl in Ha, Hb.
  - assert (Pr (snap_law scale grid value) (fun j => (a <= j)%Z)
      = Pr (snap_law scale grid value) (fun j => (a <= j <= b)%Z) + Pr (snap_law scale grid value) (fun j => (b + 1 <= j)%Z)) as E.
    { rewrite <- Pr_union; auto; [|lia]. apply Pr_ext; auto. intro j. lia. }
    rewrite !snap_upper in E by auto. unfold prob in *. simpl in *. lra.
  - rewrite (Pr_ext _ _ (fun j => (a <= j)%Z)); auto; [now apply snap_upper|tauto].
  - rewrite (Pr_ext _ _ (fun j => (j <= b)%Z)); auto; [now apply snap_lower|tauto].
  - rewrite (Pr_ext _ _ (fun _ => True)); auto; [|tauto].
    rewrite (proj2 (snap_total scale grid scale_pos grid_pos value)). unfold prob. simpl. lra.
Qed.

(** ** The outputs have the law [release]. *)
Theorem run_has_law lower upper value out :
  sampled (fun s u => run lower upper value s u = out) (release scale grid lower upper value out).
Proof.
  set (v := clamp_between lower upper value).
  set (C := fun k => clamp_between lower upper (grid * IZR k) = out).
  assert (release scale grid lower upper value out = Pr (snap_law scale grid v) C) as -> by reflexivity.
  pose proof (snap_summable scale grid scale_pos grid_pos v) as HS.
  destruct (convex_set C) as [h|(a & b & HC & k & Hk)].
  - intros i j k [Hij Hjk] Hi Hk. unfold C in *.
    assert (forall x y, (x <= y)%Z -> clamp_between lower upper (grid * IZR x) <= clamp_between lower upper (grid * IZR y)) as HM.
    { intros x y Hxy. apply clamp_between_le. apply Rmult_le_compat_l; [lra|now apply IZR_le]. }
    generalize (HM i j Hij) (HM j k Hjk). lra.
  - rewrite Pr_none by auto. exists 0, 0.
    split; [|split; [|lra]]; apply uniform_never; intros u _ E; exact (h _ E).
  - rewrite (Pr_ext _ _ (fun j => from a j /\ upto b j)) by auto.
    apply HC in Hk. rewrite (snap_law_between v a b k) by tauto.
    apply sampled_ext with (2 := noise_in v _ _ (edges_ordered a b k (proj1 Hk) (proj2 Hk))).
    intros s u _. rewrite <- index_from, <- index_upto. symmetry. apply HC.
Qed.
End Mechanism.
