/**
 * The Pi SDK, imported when the first session starts: it takes over half a
 * second to load, and nothing before that needs it.
 */
import type * as PiSdk from '@earendil-works/pi-coding-agent';

export type Sdk = typeof PiSdk;
export type {
  AgentSession,
  BashOperations,
  ExtensionError,
  LoadExtensionsResult,
  ModelRuntime,
  ResourceLoader,
  Skill,
  ToolDefinition,
} from '@earendil-works/pi-coding-agent';

type MessageEnd = Extract<PiSdk.AgentSessionEvent, { type: 'message_end' }>;
export type AssistantMessage = Extract<MessageEnd['message'], { role: 'assistant' }>;
export type StopReason = AssistantMessage['stopReason'];
export type Model = NonNullable<ReturnType<PiSdk.ModelRuntime['getModel']>>;

export function loadSdk(): Promise<Sdk> {
  return import('@earendil-works/pi-coding-agent');
}
