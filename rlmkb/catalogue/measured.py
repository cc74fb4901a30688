"""The tables of measurements: the columns of each, and what every row must have."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from rlmkb.catalogue.problems import Problem
from rlmkb.errors import nearest

_SOURCE = "source_repo commit path"
_HEAD = f"id {_SOURCE} row_label"
_TAIL = "complete missing doubtful notes"

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: tuple(" ".join(parts).split()) for name, parts in {
        "gpu_achievable": (
            _HEAD,
            "gpu quantity precision value unit theoretical fraction condition notes",
        ),
        "headlines": (
            _HEAD,
            "system claim metric value_low value_high baseline model hardware setting primary_or_secondary",
            "doubtful notes",
        ),
        "inference": (
            _HEAD,
            "kind model gpu gpus_total engine tp pp ep dp precision kv_precision isl osl concurrency num_requests",
            "request_rate out_tok_per_s_per_gpu out_tok_per_s_total total_tok_per_s_total",
            "prefill_tok_per_s_per_gpu req_per_s ttft_ms tpot_ms latency_s version",
            _TAIL,
        ),
        "memory": (
            _HEAD,
            "kind model gpu gpus_total seq_len gbs mbs tp pp cp ep vpp sharding recompute offload precision",
            "optimizer peak_mem unit mem_kind",
            _TAIL,
        ),
        "refit": (
            _HEAD,
            "model gpu train_gpus gen_gpus train_layout gen_layout method precision weight_gb transfer_s total_s",
            "bandwidth_gb_s",
            _TAIL,
        ),
        "rl_phase_times": (
            "id algorithm model L d d_ff h V B K S_mean T_mean gpus recompute generation_s old_log_prob_s",
            "reference_s values_s advantages_s policy_training_s critic_training_s step_s",
            _SOURCE,
            "steps",
        ),
        "rl_step_series": (
            "run",
            _SOURCE,
            "step S_mean T_mean T_max T_min T_clip_ratio total_tokens gen_s generate_sequences_s reshard_s",
            "reward_s old_logprob_s ref_s values_s adv_s train_actor_s train_critic_s testing_s save_checkpoint_s",
            "step_s mfu",
        ),
        "rl_steps": (
            _HEAD,
            "algorithm model B_prompts K_samples S_prompt_mean S_prompt_max T_resp_mean T_resp_max max_seq_len",
            "train_gbs minibatch_prompts micro_batch ppo_epochs seq_packing gpu gpus_per_node nodes gpus_total",
            "placement train_gpus gen_gpus train_backend train_tp train_pp train_cp train_ep train_vpp train_dp",
            "train_sharding train_ulysses_sp recompute offload gen_backend gen_tp gen_pp gen_ep gen_gpu_mem_util",
            "gen_eager prec_train prec_gen has_ref has_critic step_s gen_s exposed_gen_s old_logprob_s ref_s",
            "logprob_all_s values_s reward_s adv_s train_s critic_train_s refit_s other_s wall_hours wall_steps",
            "tokens_per_s_per_gpu tok_def gen_tok_per_s_per_gpu train_tok_per_s_per_gpu mfu tflops_per_gpu",
            "peak_mem_gb averaging derived",
            _TAIL,
        ),
        "serving_silicon": (
            "id silicon_data_source backend backend_version model_path system precision mode isl osl",
            "gemm_quant_mode moe_quant_mode batch_size tp_size pp_size attention_dp_size moe_tp_size moe_ep_size",
            "prefill_batch_size prefill_num_workers prefill_tp_size prefill_pp_size prefill_attention_dp_size",
            "prefill_moe_tp_size prefill_moe_ep_size decode_batch_size decode_num_workers decode_tp_size",
            "decode_pp_size decode_attention_dp_size decode_moe_tp_size decode_moe_ep_size silicon_ttft_ms",
            "silicon_tpot_ms",
        ),
        "training": (
            _HEAD,
            "kind model gpu gpus_per_node nodes gpus_total seq_len gbs mbs grad_accum seq_packing tp pp cp ep etp",
            "vpp dp sharding recompute offload precision framework step_time_s tokens_per_s_per_gpu",
            "tokens_per_s_total samples_per_s_total tflops_per_gpu mfu peak_mem_gb version",
            _TAIL,
        ),
    }.items()}
)  # fmt: skip


def table_problems(text: str, name: str, label: str) -> Iterator[Problem]:
    """What is wrong with a table: its header, rows that do not fit, rows that cannot be told apart or found again.

    Parameters
    ----------
    text : str
        The file.
    name, label : str
        The name of the table, and how messages call the file.

    Examples
    --------
    >>> str(next(table_problems("id,a\\n", "refit", "refit.csv")))[:54]
    "refit.csv:1: F120 the first line has not 'source_repo'"
    """
    if name not in COLUMNS:
        yield Problem(label, 1, "F120", f"there is no table {name!r}; allowed: {nearest(name, COLUMNS)}")
        return
    header, seen = COLUMNS[name], {}
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        wrong = _header_problem(next(rows, []), header)
        if wrong:
            yield Problem(label, 1, "F120", wrong)
            return
        for cells in rows:
            if len(cells) != len(header):
                told = f"{len(cells)} cell{'' if len(cells) == 1 else 's'} under {len(header)} names"
                yield Problem(label, rows.line_num, "F118", told)
            else:
                yield from _row_problems(dict(zip(header, cells, strict=True)), rows.line_num, label, seen)
    except csv.Error as error:
        yield Problem(label, max(1, rows.line_num), "F118", f"cannot be read as CSV: {error}")


def _header_problem(found: list[str], header: tuple[str, ...]) -> str | None:
    missing = [name for name in header if name not in found]
    if missing:
        return f"the first line has not {missing[0]!r}; allowed: {', '.join(header)}"
    extra = [name for name in found if name not in header]
    if extra:
        return f"the first line has {extra[0][:60]!r}; allowed: {', '.join(header)}"
    same = found == list(header)
    return None if same else f"the first line has another order, or a name twice; allowed: {', '.join(header)}"


def _row_problems(row: Mapping[str, str], line: int, label: str, seen: dict[tuple, int]) -> Iterator[Problem]:
    names = ("id",) if "id" in row else ("run", "step")
    key = tuple(row[name] for name in names)
    first = seen.setdefault(key, line)
    if not all(key):
        yield Problem(label, line, "F119", f"the row has no {' and '.join(names)}")
    elif first != line:
        yield Problem(label, line, "F119", f"{' and '.join(names)} {', '.join(key)!r} stand in line {first} too")
    source = "source_repo" if "source_repo" in row else "silicon_data_source"
    if not row[source].strip():
        yield Problem(label, line, "F121", f"{source} is empty; allowed: owner/name of a repository, or the publisher")
    if not row.get("path", "-").strip():
        yield Problem(label, line, "F121", "path is empty; allowed: the file or section that has the figure")
    if not re.fullmatch(r"([0-9a-f]{7,40})?", row.get("commit", "")):
        yield Problem(label, line, "F121", f"commit is {row['commit'][:60]!r}; allowed: 7 to 40 digits, or nothing")
