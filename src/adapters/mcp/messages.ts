/**
 * The fixed text of every code that a client can see. A text says what happened
 * and what to do next, and never holds a path, a value or somebody else's words.
 */
import type { ErrorCode } from '../../ports/error-code.ts';

/** What a failed turn says, in the turn itself and as the session's `lastError`. */
export const TURN_FAILED = { code: 'turn_failed', message: 'Pi turn failed' } as const;

export const MESSAGES: Readonly<Record<ErrorCode, string>> = Object.freeze({
  unknown_workspace: 'No workspace has this alias. Use one that pi_capabilities_get lists.',
  unknown_execution_profile: 'No execution profile has this alias. Use one that pi_capabilities_get lists.',
  unknown_session:
    'No session has this id: it never existed here, was closed long ago, or belonged to an earlier server process. Start a new session.',
  unknown_turn: 'This session keeps no turn with this id: only the newest 20 are kept, and closing drops them all.',
  session_running:
    'The session is busy. Poll its turn until it ends, or abort it, or close the session; then send the prompt again.',
  prompt_rejected:
    'Pi did not accept the prompt and no turn was started. Try once more; if that fails too, close the session and start a new one.',
  prompt_timeout: 'Pi prompt preflight timed out',
  abort_failed: 'The turn could not be aborted and may still be running. Poll it, abort again, or close the session.',
  abort_timeout: 'Pi abort timed out',
  server_stopping: 'The server is shutting down and takes no new work. Reconnect to get a new server.',
  workspace_mode_forbids_coding:
    'The mode of this workspace forbids coding profiles. Use a read-only profile, or ask the operator.',
  workspace_not_at_baseline:
    'The clone of this writer holds work of an earlier session. Have it collected and finished with pi-session-mcp-setup; then start again.',
  workspace_coding_session_open:
    'This writer has an open coding session already. Close that one first, or use another writer.',
  internal_error: 'The server failed to handle this call. The arguments are not to blame; report it to the operator.',
  invalid_arguments: 'The arguments do not match the input schema of the tool.',

  unknown_provider: 'Pi does not know the provider of this execution profile. The operator has to correct the profile.',
  unknown_model: 'Pi does not know the model of this execution profile. The operator has to correct the profile.',
  local_authentication_missing:
    'Pi has no credentials for the provider of this profile. The operator has to log in with Pi on this machine.',
  local_authentication_unavailable:
    'The local Pi credentials could not be read right now. Try again in a few seconds; if it persists, ask the operator.',
  model_unavailable:
    'Pi does not offer the model of this profile with the local credentials. Use another profile, or ask the operator.',
  thinking_level_unavailable:
    'The model of this profile does not support the configured thinking level. The operator has to correct the profile.',
  execution_selection_mismatch:
    'Pi created something else than the profile asks for, so the session was discarded. Ask the operator.',
  external_mcp_unavailable:
    'An external MCP server of this profile could not be started or reached. Try once more; then ask the operator.',
  external_mcp_no_tools: 'An external MCP server of this profile offers no tools. Ask the operator.',
  external_mcp_grant_tool_missing:
    'An external MCP server of this profile lacks a tool that the profile grants. Ask the operator.',
  external_mcp_activation_mismatch:
    'The external MCP tools of this profile were not activated as granted, so the session was discarded. Ask the operator.',
  extension_not_installed: 'A Pi extension of this profile is not installed. The operator has to install it.',
  extension_version_mismatch:
    'An installed Pi extension differs from the version that the profile pins. Ask the operator.',
  extension_load_failed: 'A Pi extension of this profile could not be loaded. Ask the operator.',
  extension_tool_conflict:
    'A Pi extension of this profile registers a tool whose name is already taken. Ask the operator.',
  extension_tool_missing: 'Granted Pi extension tool is not available',
  skill_load_failed: 'Configured Pi skill could not be loaded',
  pi_session_creation_failed: 'Pi could not create the session. Try once more; if it fails again, ask the operator.',
});

/** Texts of JSON-RPC errors; the SDK's own may quote what the client sent. */
export const PROTOCOL_MESSAGES: Readonly<Record<number, string>> = Object.freeze({
  [-32700]: 'Parse error',
  [-32600]: 'Invalid request',
  [-32601]: 'Method not found',
  [-32602]: 'Invalid params',
  [-32603]: 'Internal error',
});
