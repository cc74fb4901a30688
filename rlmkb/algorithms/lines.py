"""The lines of algorithms 1 to 4; see `rlmkb.algorithms.listings` for how to read them."""

from functools import partial

from rlmkb.algorithms.listings import FROZEN, PRINTED, SAMPLES, TRAINED, Line, Listing
from rlmkb.notation import Role, Stage
from rlmkb.theory.algorithms import Call

_GENERATION, _ASSESSMENT = partial(Line, stage=Stage.GENERATION), partial(Line, stage=Stage.ASSESSMENT)
_GENERATE = {"lane": Role.POLICY, "call": Call.GENERATE, "tags": FROZEN, "printed": PRINTED}
_FORWARD = {"call": Call.FORWARD, "tags": FROZEN, "printed": PRINTED}
_TRAIN = {"call": Call.TRAIN, "tags": TRAINED, "printed": PRINTED}
_LOOP, _SAMPLES = {"loop": True}, {"loop": True, "tags": SAMPLES, "printed": ("DP",)}
_POLICY, _CRITIC = {"lane": Role.POLICY}, {"lane": Role.CRITIC}
_SEQUENTIAL = {"loop": True, "printed": ("DP",)}
_UPDATES = "Each minibatch updates the weights that the next one reads."

ROLLOUT = Listing(
    "rollout", "Rollout generation", "Algorithm 1",
    (
        _GENERATION(1, r"$\mathcal{B}_{\mathrm{roll}} = \emptyset$"),
        _GENERATION(2, r"For each prompt $x_b$ of $B$", **_SAMPLES, figure="each prompt"),
        _GENERATION(3, r"For each candidate $i = 1, \dots, K$", indent=1, **_SAMPLES, figure="each candidate"),
        _GENERATION(4, r"$y_b^{(i)} = [\,]$, $\ell_{\mathrm{old},b}^{(i)} = [\,]$", indent=2, starts=(13,)),
        _GENERATION(9, r"For $t = 1, 2, \dots$ until the end token or the longest length", indent=2, **_POLICY,
                    **_LOOP, figure="each token"),
        _GENERATION(11, r"Sample $y_{b,t}^{(i)} \sim \pi_\theta(\cdot \mid x_b, y_{b,<t}^{(i)})$", (4, 13), 3,
                    **_GENERATE, figure="sample a token"),
        _GENERATION(12, r"$\ell_{\mathrm{old},b,t}^{(i)} = \log \pi_\theta(y_{b,t}^{(i)} \mid x_b, y_{b,<t}^{(i)})$",
                    (11,), 3, **_POLICY, figure="its log-probability"),
        _GENERATION(13, "Append both", (4, 11, 12, 13), 3, **_POLICY),
        _GENERATION(15, r"Add $(x_b, y_b^{(i)}, \ell_{\mathrm{old},b}^{(i)})$ to $\mathcal{B}_{\mathrm{roll}}$",
                    (1, 13), 2, figure="set of rollouts"),
    ),
)  # fmt: skip

PPO = Listing(
    "ppo", "PPO", "Algorithm 2",
    (
        _GENERATION(1, r"For each batch of prompts $\{x_b\}_{b=1}^{B} \subset X$", **_SEQUENTIAL, figure="batches",
                    note="A batch is sampled with the weights that the batch before has trained."),
        _GENERATION(3, r"Rollouts $(x_b, y_b^{(i)}, \ell_{\mathrm{old},b}^{(i)})$ by algorithm 1", (70,), 1,
                    **_GENERATE | {"printed": ()}, figure="generate rollouts"),
        _GENERATION(4, r"Number them $n = 1, \dots, BK$", (3,), 1),
        _ASSESSMENT(6, r"For each rollout $n$", indent=1, **_SAMPLES, figure="rollouts"),
        _ASSESSMENT(13, r"Reward $s_n = R_\phi(x_n, y_n)$", (4,), 2, lane=Role.REWARD, **_FORWARD, figure="reward"),
        _ASSESSMENT(19, r"Values $\mathbf V_n = V_\psi(x_n, y_n)$", (4, 78), 2, lane=Role.CRITIC, **_FORWARD,
                    figure="values"),
        _ASSESSMENT(20, r"Terminal value $V_{n,|y_n|+1} = 0$", indent=2, **_CRITIC),
        _ASSESSMENT(26, r"$\ell_{\mathrm{ref}}^{(n)} = \log \pi_{\mathrm{ref}}(y_n \mid x_n)$", (4,), 2,
                    lane=Role.REFERENCE, **_FORWARD, figure="log-probs"),
        _ASSESSMENT(27, r"Shaped rewards $\mathbf r_n = -\beta\,(\ell_{\mathrm{old}}^{(n)} - "
                    r"\ell_{\mathrm{ref}}^{(n)}) + s_n\,\mathbf e_{|y_n|}$", (4, 13, 26), 2, figure="shaped rewards"),
        _ASSESSMENT(28, r"$\mathbf A_n = [\,]$, $\hat{\mathbf G}_n = [\,]$, $A_{n,|y_n|+1} = 0$", indent=2,
                    starts=(31, 33)),
        _ASSESSMENT(29, r"For $t = |y_n|$ down to 1", indent=2, **_LOOP),
        _ASSESSMENT(30, r"Residual $\delta_{n,t} = r_{n,t} + \gamma V_{n,t+1} - V_{n,t}$", (19, 20, 27), 3),
        _ASSESSMENT(31, r"Advantage $A_{n,t} = \delta_{n,t} + \gamma\lambda A_{n,t+1}$", (28, 30, 31), 3,
                    figure="advantages, returns"),
        _ASSESSMENT(32, r"Return $\hat G_{n,t} = V_{n,t} + A_{n,t}$", (19, 31), 3),
        _ASSESSMENT(33, "Prepend both", (28, 31, 32, 33), 3),
        _ASSESSMENT(35, r"Add $(\mathbf A_n, \hat{\mathbf G}_n)$ to the rollout", (33,), 2),
        Line(38, r"For $e = 1, \dots, E_{\mathrm{PPO}}$", indent=1, **_LOOP, figure="epochs"),
        Line(39, r"Shuffle the rollouts, deal them into minibatches $\mathcal B$", (4, 35), 2, figure="minibatch"),
        Line(40, r"For each minibatch $\mathcal B$", indent=2, **_SEQUENTIAL, figure="minibatches", note=_UPDATES),
        Line(41, r"For each rollout $n \in \mathcal B$", indent=3, **_SAMPLES),
        Line(48, r"$\ell_\theta^{(n)} = \log \pi_\theta(y_n \mid x_n)$", (39, 70), 4, **_POLICY, **_TRAIN,
             figure="log-probs"),
        Line(49, r"Ratios $\boldsymbol\rho_n = \exp(\ell_\theta^{(n)} - \ell_{\mathrm{old}}^{(n)})$", (39, 48), 4,
             **_POLICY),
        Line(55, r"Values $\mathbf V'_n = V_\psi(x_n, y_n)$", (39, 78), 4, **_CRITIC, **_TRAIN, figure="values"),
        Line(57, r"Tokens $Z = \sum_{n \in \mathcal B} |y_n|$", (39,), 3),
        Line(64, r"$\mathcal L_{\mathrm{PPO}} = -\frac1Z \sum_{n,t} \min(\rho_{n,t} A_{n,t},$", (39, 49, 57), 3,
             **_POLICY, figure="clipped loss"),
        Line(65, r"$\quad\mathrm{clip}(\rho_{n,t}, 1 \pm \varepsilon)\, A_{n,t})$", (39, 49, 57), 3, **_POLICY),
        Line(67, r"$\mathcal L_H = -\frac1Z \sum_{n,t} H(\pi_\theta(\cdot \mid x_n, y_{n,<t}))$, optional", (48, 57), 3,
             **_POLICY),
        Line(68, r"$\mathcal L_{\mathrm{PPO}} \mathrel{+}= c_H \mathcal L_H$", (64, 65, 67), 3, **_POLICY),
        Line(70, r"Backpropagate $\mathcal L_{\mathrm{PPO}}$, update $\theta$", (48, 68, 70), 3, **_POLICY, **_TRAIN,
             figure="update $θ$"),
        Line(76, r"$\mathcal L_{\mathrm{critic}} = \frac1Z \sum_{n,t} (V'_{n,t} - \hat G_{n,t})^2$", (39, 55, 57), 3,
             **_CRITIC, figure="squared error"),
        Line(78, r"Backpropagate $\mathcal L_{\mathrm{critic}}$, update $\psi$", (55, 76, 78), 3, **_CRITIC, **_TRAIN,
             figure="update $ψ$"),
    ),
)  # fmt: skip

GRPO = Listing(
    "grpo", "GRPO", "Algorithm 3",
    (
        _GENERATION(1, r"For each batch of prompts $\{x_b\}_{b=1}^{B} \subset X$", **_LOOP, figure="batches"),
        _GENERATION(3, r"Rollouts $(x_b, y_b^{(i)}, \ell_{\mathrm{old},b}^{(i)})$ by algorithm 1", (52,), 1,
                    **_GENERATE | {"printed": ()}, figure="generate rollouts"),
        _ASSESSMENT(5, r"For each prompt $b = 1, \dots, B$", indent=1, **_SAMPLES, figure="prompts"),
        _ASSESSMENT(6, r"For each candidate $i = 1, \dots, K$", indent=2, **_SAMPLES),
        _ASSESSMENT(13, r"Reward $r_b^{(i)} = R_\phi(x_b, y_b^{(i)})$", (3,), 3, lane=Role.REWARD, **_FORWARD,
                    figure="reward"),
        _ASSESSMENT(19, r"$\ell_{\mathrm{ref},b}^{(i)} = \log \pi_{\mathrm{ref}}(y_b^{(i)} \mid x_b)$", (3,), 3,
                    lane=Role.REFERENCE, **_FORWARD, figure="log-probs"),
        _ASSESSMENT(21, r"Group mean $\mu_b = \frac{1}{K}\sum_i r_b^{(i)}$", (13,), 2),
        _ASSESSMENT(22, r"Group deviation $\sigma_b = (\frac1K \sum_i (r_b^{(i)} - \mu_b)^2)^{1/2}$", (13, 21), 2,
                    figure="mean, deviation"),
        _ASSESSMENT(23, r"For each candidate $i = 1, \dots, K$", indent=2, **_SAMPLES),
        _ASSESSMENT(24, r"$\mathbf A_b^{(i)} = \frac{r_b^{(i)} - \mu_b}{\sigma_b + 10^{-8}}\,\mathbf 1$", (13, 21, 22),
                    3, figure="advantages"),
        _ASSESSMENT(25, r"Add $(\mathbf A_b^{(i)}, \ell_{\mathrm{ref},b}^{(i)})$ to the rollout", (19, 24), 3),
        _ASSESSMENT(28, r"Number the rollouts $n = 1, \dots, BK$", (3, 25), 1),
        Line(30, r"For $e = 1, \dots, E_{\mathrm{GRPO}}$", indent=1, **_LOOP, figure="epochs"),
        Line(31, r"Shuffle the rollouts, deal them into minibatches $\mathcal B$", (28,), 2, figure="minibatch"),
        Line(32, r"For each minibatch $\mathcal B$", indent=2, **_SEQUENTIAL, figure="minibatches", note=_UPDATES),
        Line(33, r"For each rollout $n \in \mathcal B$", indent=3, **_SAMPLES),
        Line(39, r"$\ell_\theta^{(n)} = \log \pi_\theta(y_n \mid x_n)$", (31, 52), 4, **_POLICY, **_TRAIN,
             figure="log-probs"),
        Line(40, r"Ratios $\boldsymbol\rho_n = \exp(\ell_\theta^{(n)} - \ell_{\mathrm{old}}^{(n)})$", (31, 39), 4,
             **_POLICY),
        Line(41, r"KL estimate $\mathbf d_n = \exp(\ell_{\mathrm{ref}}^{(n)} - \ell_\theta^{(n)}) - "
             r"(\ell_{\mathrm{ref}}^{(n)} - \ell_\theta^{(n)}) - 1$", (31, 39), 4, **_POLICY),
        Line(43, r"Tokens $Z = \sum_{n \in \mathcal B} |y_n|$", (31,), 3),
        Line(49, r"$\mathcal L_{\mathrm{GRPO}} = -\frac1Z \sum_{n,t} [\min(\rho_{n,t} A_{n,t},$", (31, 40, 43), 3,
             **_POLICY, figure="clipped loss, KL"),
        Line(50, r"$\quad\mathrm{clip}(\rho_{n,t}, 1 \pm \varepsilon)\, A_{n,t}) - \beta d_{n,t}]$",
             (31, 40, 41, 43), 3, **_POLICY),
        Line(52, r"Backpropagate $\mathcal L_{\mathrm{GRPO}}$, update $\theta$", (39, 49, 50, 52), 3, **_POLICY,
             **_TRAIN, figure="update $θ$"),
    ),
)  # fmt: skip

DPO = Listing(
    "dpo", "DPO", "Algorithm 4",
    (
        _ASSESSMENT(2, r"For $e = 1, \dots, E_{\mathrm{DPO}}$", **_LOOP, figure="epochs"),
        _ASSESSMENT(3, r"Shuffle $\mathcal D$, deal it into minibatches $\mathcal B$", indent=1,
                    figure="minibatch of pairs"),
        _ASSESSMENT(4, r"For each minibatch $\mathcal B$", indent=1, **_SEQUENTIAL, figure="minibatches",
                    note=_UPDATES),
        _ASSESSMENT(5, r"For each pair $(x_n, y_w^{(n)}, y_l^{(n)}) \in \mathcal B$", indent=2, **_SAMPLES,
                    figure="pairs"),
        _ASSESSMENT(12, r"$\ell_{\theta,w}^{(n)} = \log \pi_\theta(y_w^{(n)} \mid x_n)$, preferred", (3, 30), 3,
                    **_POLICY, **_FORWARD | {"tags": TRAINED}, figure="log-probs"),
        _ASSESSMENT(13, r"$\ell_{\theta,l}^{(n)} = \log \pi_\theta(y_l^{(n)} \mid x_n)$, dispreferred", (3, 30), 3,
                    **_POLICY, **_FORWARD | {"tags": TRAINED}),
        _ASSESSMENT(19, r"$\ell_{\mathrm{ref},w}^{(n)} = \log \pi_{\mathrm{ref}}(y_w^{(n)} \mid x_n)$, preferred", (3,),
                    3, lane=Role.REFERENCE, **_FORWARD, figure="log-probs"),
        _ASSESSMENT(20, r"$\ell_{\mathrm{ref},l}^{(n)} = \log \pi_{\mathrm{ref}}(y_l^{(n)} \mid x_n)$, dispreferred",
                    (3,), 3, lane=Role.REFERENCE, **_FORWARD),
        _ASSESSMENT(21, r"$h_n = \mathbf 1^\top(\ell_{\theta,w}^{(n)} - \ell_{\mathrm{ref},w}^{(n)})$ "
                    r"${} - \mathbf 1^\top(\ell_{\theta,l}^{(n)} - \ell_{\mathrm{ref},l}^{(n)})$", (12, 13, 19, 20), 3,
                    figure="log-ratio difference"),
        Line(28, r"$\mathcal L_{\mathrm{DPO}} = -\frac{1}{|\mathcal B|} \sum_n \log \sigma(\beta h_n)$", (21,), 2,
             **_POLICY, figure="logistic loss"),
        Line(30, r"Backpropagate $\mathcal L_{\mathrm{DPO}}$, update $\theta$", (12, 13, 28, 30), 2, **_POLICY,
             **_TRAIN, figure="update $θ$"),
    ),
)  # fmt: skip

LISTINGS = {one.id: one for one in (ROLLOUT, PPO, GRPO, DPO)}
