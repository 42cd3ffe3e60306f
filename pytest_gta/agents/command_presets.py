"""Known command-line agents: how each is run without a person at it, and where it reads its tools from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

KEY_VARIABLE = "OPENAI_API_KEY"
"""Holds the key of the server that ``--gta-base-url`` names."""
NO_LIMIT_S = 86_400
"""Seconds for limits of a program's own on a task or a tool call: the benchmark's hold, and are told in time."""

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Preset:
    """One command-line agent. Words may hold the places of `pytest_gta.agents.command.PLACES`.

    Attributes:
        command: Its words.
        model: Further words when there is a ``--gta-model``.
        endpoint: Words instead of those of `model` when there is a ``--gta-base-url`` as well.
        tools: Further words when the benchmark's tools are served.
        secluded: Further words when the file system is hidden from it.
        exposed: Further words when it is not.
        last: Words after all others.
        environment: Variables to set.
        settings: Which of `SETTINGS` its configuration file has, "" for none.
        settings_variable: The variable that names that file.
        home_files: Files of the home that it needs to be logged in, relative to it.
    """

    command: tuple[str, ...]
    model: tuple[str, ...] = ()
    endpoint: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    secluded: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: _NONE)
    settings: str = ""
    settings_variable: str = ""
    home_files: tuple[str, ...] = ()


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "claude": Preset(
            command=("claude", "-p", "--output-format", "text", "--no-session-persistence"),
            model=("--model", "{model}"),
            tools=("--mcp-config", "{mcp_config}", "--strict-mcp-config"),
            secluded=("--dangerously-skip-permissions",),
            exposed=("--permission-mode", "acceptEdits", "--allowedTools", "mcp__gta"),
            # It takes this flag from root only where it is told that it is confined.
            environment=MappingProxyType({"IS_SANDBOX": "1"}),
            home_files=(".claude/.credentials.json", ".claude/settings.json"),
        ),
        "codex": Preset(
            command=("codex", "exec", "--skip-git-repo-check", "--ephemeral", "--color", "never"),
            model=("--model", "{model}"),
            endpoint=(
                "--model", "{model}",
                "-c", 'model_provider="gta"',
                "-c", 'model_providers.gta.name="gta"',
                "-c", 'model_providers.gta.base_url="{base_url}"',
                "-c", f'model_providers.gta.env_key="{KEY_VARIABLE}"',
                "-c", 'model_providers.gta.wire_api="responses"',
            ),
            tools=(
                "-c", 'mcp_servers.gta.url="{mcp_url}"',
                "-c", 'mcp_servers.gta.bearer_token_env_var="GTA_MCP_TOKEN"',
                "-c", 'mcp_servers.gta.default_tools_approval_mode="approve"',
                "-c", f"mcp_servers.gta.tool_timeout_sec={NO_LIMIT_S}",
            ),
            secluded=("--dangerously-bypass-approvals-and-sandbox",),
            exposed=("--sandbox", "workspace-write"),
            last=("-",),
            home_files=(".codex/auth.json", ".codex/config.toml"),
        ),
        "gemini": Preset(
            command=("gemini", "--output-format", "text", "--skip-trust"),
            model=("--model", "{model}"),
            secluded=("--approval-mode", "yolo"),
            exposed=("--approval-mode", "auto_edit"),
            settings="gemini",
            settings_variable="GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            home_files=(".gemini/oauth_creds.json", ".gemini/settings.json", ".gemini/google_accounts.json"),
        ),
        "opencode": Preset(
            command=("opencode", "run"),
            model=("--model", "{model}"),
            endpoint=("--model", "gta/{model}"),
            secluded=("--auto",),
            settings="opencode",
            settings_variable="OPENCODE_CONFIG",
            home_files=(".local/share/opencode/auth.json", ".config/opencode/opencode.json"),
        ),
        "openclaw": Preset(
            command=(
                "openclaw", "agent", "exec", "--message-file", "-", "--cwd", "{workspace}",
                "--timeout", f"{NO_LIMIT_S}",
            ),
            model=("--model", "{model}"),
            endpoint=("--model", "gta/{model}"),
            # Lets our settings include the user's.
            environment=MappingProxyType({"OPENCLAW_INCLUDE_ROOTS": "~/.openclaw"}),
            settings="openclaw",
            settings_variable="OPENCLAW_CONFIG_PATH",
            home_files=(".openclaw/openclaw.json",),
        ),
    }
)  # fmt: skip


def mcp_servers(url: str, token: str) -> dict[str, Any]:
    """Return the usual ``mcpServers`` configuration of a server over HTTP."""
    return {"mcpServers": {"gta": {"type": "http", "url": url, "headers": _headers(token)}}}


def settings_of(name: str, places: Mapping[str, str], token: str) -> dict[str, Any]:
    """Return the configuration file that a preset's program reads.

    Args:
        name: A preset's `settings`.
        places: Where the tools are served, ``mcp_url``, "" when they are not; ``model`` and ``base_url``, if any.
        token: What the server of the tools asks for.
    """
    url = places["mcp_url"]
    if name == "gemini":
        served = {"httpUrl": url, "headers": _headers(token), "trust": True, "timeout": 1_000 * NO_LIMIT_S}
        return {"mcpServers": {"gta": served}} if url else {}
    if name == "openclaw":
        return _openclaw_settings(places, token)
    settings: dict[str, Any] = {"autoupdate": False, "share": "disabled"}
    if url:
        served = {"url": url, "headers": _headers(token), "timeout": 1_000 * NO_LIMIT_S}
        settings["mcp"] = {"gta": {"type": "remote", "enabled": True, **served}}
    if places["base_url"] and places["model"]:
        options = {"baseURL": places["base_url"], "apiKey": f"{{env:{KEY_VARIABLE}}}"}
        settings["provider"] = {
            "gta": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "gta",
                "options": options,
                "models": {places["model"]: {}},
            }
        }
    return settings


def _openclaw_settings(places: Mapping[str, str], token: str) -> dict[str, Any]:
    users = Path.home() / ".openclaw" / "openclaw.json"
    settings: dict[str, Any] = {"$include": str(users)} if users.is_file() else {}
    if places["mcp_url"]:
        served = {"url": places["mcp_url"], "transport": "streamable-http", "headers": _headers(token)}
        settings["mcp"] = {"servers": {"gta": {**served, "requestTimeoutMs": 1_000 * NO_LIMIT_S}}}
    if places["base_url"] and places["model"]:
        provider = {
            "baseUrl": places["base_url"],
            "apiKey": f"${{{KEY_VARIABLE}}}",
            "api": "openai-completions",
            "models": [{"id": places["model"], "name": places["model"]}],
        }
        settings["models"] = {"providers": {"gta": provider}}
    return settings


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
