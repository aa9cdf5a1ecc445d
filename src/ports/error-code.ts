/**
 * Every code that a tool result may carry (docs/tools.md). The fixed
 * message of each code lives with the MCP adapter; nothing else is ever sent.
 */
export type StartErrorCode =
  | 'unknown_provider'
  | 'unknown_model'
  | 'local_authentication_missing'
  | 'local_authentication_unavailable'
  | 'model_unavailable'
  | 'thinking_level_unavailable'
  | 'execution_selection_mismatch'
  | 'external_mcp_unavailable'
  | 'external_mcp_no_tools'
  | 'external_mcp_grant_tool_missing'
  | 'external_mcp_activation_mismatch'
  | 'extension_not_installed'
  | 'extension_version_mismatch'
  | 'extension_load_failed'
  | 'extension_tool_conflict'
  | 'extension_tool_missing'
  | 'skill_load_failed'
  | 'pi_session_creation_failed';

export type DomainErrorCode =
  | 'unknown_workspace'
  | 'unknown_execution_profile'
  | 'unknown_session'
  | 'unknown_turn'
  | 'session_running'
  | 'prompt_rejected'
  | 'prompt_timeout'
  | 'abort_failed'
  | 'abort_timeout'
  | 'server_stopping'
  | 'workspace_mode_forbids_coding'
  | 'workspace_not_at_baseline'
  | 'workspace_coding_session_open'
  | 'internal_error'
  | 'invalid_arguments';

export type ErrorCode = DomainErrorCode | StartErrorCode;
