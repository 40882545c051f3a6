"""What a person can do about each way in which a run can fail."""

ADVICE = {
    "agent_failed": "The agent's program ended without a submission. Its log below says why; mend the agent's start.sh "
    "or its keys, then start the run again.",
    "sandbox_fault": "The sandbox could not be started on this worker. Install or start Docker or bubblewrap there, "
    "or name another one in AGENT2_SANDBOX, then start the run again.",
    "base_model_unavailable": "The worker could not get the base model. Check the name, or put the model's folder on "
    "the worker and give its absolute path.",
    "task_data_unavailable": "The worker could not get the task's data. Put the named files into a folder and name "
    "that folder in the setting above, then start the run again.",
    "worker_lost": "The worker went silent: its process or its machine ended. What was submitted until then is graded. "
    "Check the worker, then start the run again.",
    "worker_stopped": "The worker was stopped while the run was under way. Start the run again.",
    "limit_memory": "The agent used more memory than the operator allows (AGENT2_RUN_MEMORY_GB).",
    "limit_disk": "The agent wrote more than the operator allows (AGENT2_RUN_DISK_GB).",
    "limit_processes": "The agent started more processes than the operator allows (AGENT2_RUN_PROCESSES).",
    "internal_fault": "The fault is the platform's, not the agent's. The worker's log has the details; starting the "
    "run again is safe.",
}


def advice(code: str) -> str:
    """What to do; empty without a fault."""
    if not code:
        return ""
    return ADVICE.get(code, "The worker's log has the details; starting the run again is safe.")
