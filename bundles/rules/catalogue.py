"""Everything a check can say: severity, category, title, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    severity: str
    category: str
    title: str
    fix: str = ""


PACK = "Pack the run again with agent2_pack.py, which writes the manifest."
OTHER = "Put the transcript of this run into the bundle, or leave it out."
SAY = "Say it in the manifest: "

ABOUT_MANIFEST: dict[str, Entry] = {
    "no_run": Entry("error", "Layout", "No run was recognised", "Put one of the expected files at the top. " + PACK),
    "several_runs": Entry("info", "Layout", "The archive holds several runs"),
    "manifest_too_large": Entry("error", "Manifest", "The manifest is too large to be read", PACK),
    "manifest_not_utf8": Entry("error", "Manifest", "The manifest is not UTF-8", PACK),
    "manifest_empty": Entry("error", "Manifest", "The manifest is empty", PACK),
    "manifest_invalid": Entry("error", "Manifest", "The manifest is not JSON", PACK),
    "manifest_yaml": Entry("error", "Manifest", "The manifest is YAML", "Write manifest.json as JSON. " + PACK),
    "manifest_yaml_tag": Entry("error", "Manifest", "The manifest has YAML tags", "Write it as plain JSON. " + PACK),
    "manifest_yaml_alias": Entry("error", "Manifest", "The manifest refers to itself", "Write it as JSON. " + PACK),
    "manifest_duplicate_key": Entry("error", "Manifest", "The manifest says something twice", "Keep one of the two."),
    "manifest_too_deep": Entry("error", "Manifest", "The manifest is nested too deeply", PACK),
    "manifest_not_finite": Entry("error", "Manifest", "A number is NaN or infinite", "Write null where it is unknown."),
    "manifest_version": Entry("error", "Manifest", "The format's version is not known here", PACK),
    "manifest_schema": Entry("error", "Manifest", "The manifest is not as its schema has it", "Mend the value named."),
    "manifest_name": Entry(
        "error", "Manifest", "A path of the manifest is not allowed", "Rename the file, pack again."
    ),
    "manifest_twice": Entry("error", "Manifest", "A path stands twice in the manifest", "List every file once."),
    "manifest_file_missing": Entry("error", "Manifest", "A listed file is not in the archive", "Add it. " + PACK),
    "manifest_file_extra": Entry("warning", "Manifest", "Files that the manifest does not list", "List them. " + PACK),
    "manifest_size": Entry("error", "Manifest", "A file has another size than listed", PACK),
    "manifest_digest": Entry("error", "Manifest", "A file is not the one listed", PACK),
    "manifest_differs": Entry("error", "Contradiction", "The manifest and scores.json differ", PACK),
    "same_as_cycle": Entry("error", "Manifest", "Submissions refer to each other in a circle", "Name the first one."),
    "same_as_unknown": Entry("error", "Manifest", "A submission repeats one that does not exist", "Mend same_as."),
    "file_unreadable": Entry("warning", "Data", "A file could not be read"),
    "junk_left_out": Entry("info", "Ignored", "Files of the operating system were left out"),
    "archive_read_so": Entry("info", "Archive", "The archive was read so"),
    "link_left_out": Entry("info", "Ignored", "Links were left out"),
}
ABOUT_FACTS: dict[str, Entry] = {
    "task_missing": Entry("error", "Manifest", "No task is named", SAY + "task."),
    "task_unknown": Entry("error", "Manifest", "The task is not one of this platform's", "Use its id, such as gsm8k."),
    "protocol_missing": Entry("missing", "Manifest", "No protocol is named", SAY + "protocol, such as gsm8k/1."),
    "protocol_differs": Entry("warning", "Score", "Scores of another protocol", "They are shown, and ranked apart."),
    "agent_missing": Entry("error", "Manifest", "No agent is named", SAY + "agent.name."),
    "agent_version_missing": Entry("missing", "Manifest", "The agent's version is not given", SAY + "agent.version."),
    "driver_missing": Entry("missing", "Manifest", "The driver is not given", SAY + "driver.name, the agent's LLM."),
    "base_missing": Entry("error", "Manifest", "No base model is named", SAY + "base_model.name."),
    "base_unknown": Entry("warning", "Manifest", "The base model is not one of this platform's"),
    "revision_missing": Entry(
        "missing", "Manifest", "The base model's revision is not given", SAY + "base_model.revision."
    ),
    "mode_missing": Entry("missing", "Manifest", "The mode is not given: read as free", SAY + "mode."),
    "mode_unknown": Entry("error", "Manifest", "The mode is not known", "Use free, sft-only, rl-oriented or multi."),
    "budget_missing": Entry("missing", "Manifest", "The time budget is not given", SAY + "budget_s, in seconds."),
    "hardware_missing": Entry("missing", "Manifest", "The hardware is not given", SAY + "hardware."),
    "seeds_missing": Entry("missing", "Manifest", "No seed is given", SAY + "seeds."),
    "contact_missing": Entry("missing", "Manifest", "No contact", "Fill in contact; without it nothing is published."),
    "licence_missing": Entry("missing", "Manifest", "No licence", "Fill in licence; without it nothing is published."),
    "digests_missing": Entry(
        "missing",
        "Manifest",
        "No digest of any checkpoint",
        "Run agent2_pack.py pack --digests on the folder of checkpoints.",
    ),
    "transcript_missing": Entry("warning", "Data", "No transcript", "Add the agent's own log."),
    "code_missing": Entry("missing", "Data", "No code", "Add the agent's code/."),
    "samples_missing": Entry("missing", "Data", "No record for each sample", "Optional: add samples/."),
    "meta_missing": Entry("warning", "Data", "run_meta.json is not there", "Add it: start, end and budget are in it."),
    "scores_missing": Entry(
        "warning", "Data", "scores.json is not there", "Add it, or say that nothing was submitted."
    ),
    "scores_unreadable": Entry("error", "Data", "The scores could not be read", "Mend the file."),
    "time_missing": Entry("missing", "Data", "How long the agent ran is not told", "Add time_taken.txt."),
    "results_other_run": Entry("info", "Ignored", "A row of results.csv belongs to another run"),
    "summary_after_end": Entry(
        "warning", "Contradiction", "The log says that there is no summary", "Say who wrote the summary, and when."
    ),
    "status_contradicts": Entry("warning", "Contradiction", "Status and exit code contradict each other"),
    "judged_elsewhere": Entry("info", "Integrity", "Another platform's judge has an opinion"),
    "log_repeats": Entry("info", "Ignored", "agent.log repeats agent.jsonl"),
}
ABOUT_SCORES: dict[str, Entry] = {
    "score_not_finite": Entry("error", "Score", "A score is NaN or infinite", "Write null where nothing was scored."),
    "score_no_number": Entry("error", "Score", "A score is no number", "Write a number from 0 to 100, or null."),
    "score_range": Entry("error", "Score", "A score is not between 0 and 100", "Give scores on the scale of 0 to 100."),
    "score_with_error": Entry(
        "warning", "Score", "A score stands beside an error", "Write null instead, or leave it: it is read the same."
    ),
    "scores_look_like_shares": Entry("warning", "Score", "All scores are at most 1", "Multiply shares by 100."),
    "same_score": Entry(
        "warning", "Score", "Two submissions have the same score", "Add a SHA-256 for each checkpoint."
    ),
    "same_digest": Entry("error", "Contradiction", "One checkpoint has two scores", "Say which score is right."),
    "best_differs": Entry("error", "Contradiction", "The best score is not in the list", "Mend the best or the list."),
    "improvement_differs": Entry("warning", "Contradiction", "An improvement is not score minus baseline", "Mend it."),
    "baseline_missing": Entry("missing", "Score", "The baseline is not given", SAY + "baselines."),
    "baseline_varies": Entry("warning", "Contradiction", "The baseline changes within the run", "Give one a task."),
    "count_differs": Entry("warning", "Contradiction", "The number of submissions differs", "Add what is missing."),
    "nothing_submitted": Entry("warning", "Score", "Nothing was submitted"),
    "number_twice": Entry("error", "Contradiction", "Two submissions have one number", "Number them from 1."),
    "metric_differs": Entry("warning", "Metric", "A process metric differs from ours"),
    "evaluation_failed": Entry("warning", "Score", "The final evaluation failed", "Evaluate again, or leave it."),
    "reward_as_share": Entry("info", "Score", "A reward was read as a share"),
    "reward_differs": Entry("error", "Contradiction", "The verifier and the result differ", "Say which one is right."),
}
ABOUT_TIMES: dict[str, Entry] = {
    "time_future": Entry("error", "Time", "A time lies in the future", "Set the clock and write UTC."),
    "time_implausible": Entry("error", "Time", "A time lies before there were such agents", "Write ISO 8601 in UTC."),
    "end_before_start": Entry(
        "error", "Contradiction", "The run ends before it starts", "Mend started_at or ended_at."
    ),
    "time_before_start": Entry("error", "Contradiction", "A submission before the start", "Mend its time."),
    "time_after_end": Entry("error", "Contradiction", "A submission after the end", "Mend its time, or the end."),
    "time_order": Entry("warning", "Time", "Submissions are not in order of time: clock skew", "Mend their times."),
    "zone_shifted": Entry("info", "Time", "Times were given in a local zone"),
    "elapsed_differs": Entry("warning", "Contradiction", "Elapsed time and clock time differ", "Mend one of the two."),
    "budget_overrun": Entry(
        "error", "Contradiction", "The run took longer than its budget", "Mend the budget or times."
    ),
    "too_many": Entry(
        "error", "Contradiction", "More submissions than the time allows", "Check the times that grading took."
    ),
}
ABOUT_TRANSCRIPTS: dict[str, Entry] = {
    "transcript_other_run": Entry("error", "Contradiction", "The transcript is of another run", OTHER),
    "transcript_never_submits": Entry(
        "error",
        "Contradiction",
        "The transcript never submits",
        OTHER + " If the agent submitted from a script, add its log or its code.",
    ),
    "transcript_empty": Entry("warning", "Data", "The transcript is empty", "Add the agent's own log."),
    "transcript_cut": Entry("info", "Data", "The transcript ends in the middle of a record"),
    "transcript_unknown": Entry("info", "Data", "The transcript is of no known format: read as text"),
    "transcript_outside": Entry("warning", "Contradiction", "The transcript is of another time", OTHER),
    "transcript_skew": Entry("warning", "Time", "Times in the transcript run backwards: clock skew"),
    "tokens_differ": Entry("warning", "Contradiction", "Tokens do not add up", "Give the sum of the transcript."),
    "trajectory_cycle": Entry(
        "error", "Contradiction", "Trajectories refer to each other in a circle", "Mend the refs."
    ),
    "held_out_mentioned": Entry(
        "warning", "Integrity", "The transcript mentions held-out data", "A person will read these places."
    ),
}
ABOUT_INTEGRITY: dict[str, Entry] = {
    "held_out_overlap": Entry(
        "warning", "Integrity", "Held-out items stand among the run's files", "A person will read these places."
    ),
    "weights_near": Entry(
        "warning", "Integrity", "Weights are near to a known model's", "A person will look at how they were made."
    ),
}
CATALOGUE: dict[str, Entry] = {
    **ABOUT_MANIFEST,
    **ABOUT_FACTS,
    **ABOUT_SCORES,
    **ABOUT_TIMES,
    **ABOUT_TRANSCRIPTS,
    **ABOUT_INTEGRITY,
}
