"""A provider of language models that plays a script: agents' real programs work against it without a key or a cost.

It speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini's generateContent, whole and streamed.
"""

from tests.support.scripted_provider.script import Fault, Script, Turn
from tests.support.scripted_provider.server import ScriptedProvider

__all__ = ["Fault", "Script", "ScriptedProvider", "Turn"]
