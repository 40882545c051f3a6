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
    "baseline_not_graded": "No worker graded the base model, so the agent was not started. Start a worker that serves "
    "the queue grading, or end its draining, then start the run again.",
    "worker_lost": "The worker went silent: its process or its machine ended. What was submitted until then is graded. "
    "Check the worker, then start the run again.",
    "worker_stopped": "The worker was stopped while the run was under way. Start the run again.",
    "agent_unavailable": "This worker lacks what the agent needs. Do what the sentence above says on the worker, ask "
    "it with manage.py agent_check, then start the run again.",
    "provider_auth": "The driver's provider refused the platform's key. Renew the key on the workers, then start the "
    "run again. What was submitted stays graded.",
    "provider_context": "The conversation became longer than the driver takes, and the agent did not get on. What was "
    "submitted stays graded; another agent or driver may go on further.",
    "provider_refused": "The driver's provider refused a request of the agent. Its log below has the details; a newer "
    "version of the agent may ask otherwise.",
    "provider_rate_limited": "The driver's provider answered that it was asked too often, until the agent gave up. "
    "Raise the limit at the provider or run fewer agents at a time.",
    "provider_error": "The driver's provider failed until the agent gave up or the platform's patience ended "
    "(AGENT2_PROVIDER_PATIENCE_S). Start the run again when it answers.",
    "provider_cut": "The driver's provider broke off its answer, and the agent did not try again. Starting the run "
    "again is safe; with resumes the agent is started again within its run.",
    "provider_unreachable": "The worker could not reach the driver's provider. Check its network and the provider's "
    "address, then start the run again.",
    "tokens_used_up": "The run's budget of tokens was used up before its time. What was submitted is graded.",
    "money_used_up": "The run's budget of dollars was used up before its time. What was submitted is graded.",
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
