/** The names of the tools that the server offers, in the order in which it lists them (docs/tools.md). */
export const TOOL_NAMES = [
  'pi_capabilities_get',
  'pi_session_start',
  'pi_session_list',
  'pi_session_get',
  'pi_session_prompt',
  'pi_turn_get',
  'pi_session_abort',
  'pi_session_close',
] as const;
