/** What is no proper tool call, or no tool call at all. */
import { describe, expect, it } from 'vitest';
import { SECRET, startRaw } from './harness.ts';

describe('the protocol', () => {
  const request = (method: string, params?: unknown) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    ...(params !== undefined && { params }),
  });

  it.each<[string, object, number, string]>([
    ['server/discover before initialize', request('server/discover', { _meta: {} }), -32601, 'Method not found'],
    ['an unknown method', request(SECRET), -32601, 'Method not found'],
    ['resources/list, which we do not offer', request('resources/list'), -32601, 'Method not found'],
    ['a tool name that is no text', request('tools/call', { name: 5, [SECRET]: SECRET }), -32602, 'Invalid params'],
    ['a call without params', request('tools/call'), -32602, 'Invalid params'],
    [
      'an initialize that is none',
      request('initialize', { protocolVersion: { [SECRET]: 1 } }),
      -32603,
      'Internal error',
    ],
    ['params that are a list', request('tools/call', [SECRET]), -32600, 'Invalid request'],
    ['a wrong _meta', request('tools/list', { _meta: SECRET }), -32600, 'Invalid request'],
  ])('%s: a fixed text and nothing more', async (_, frame, code, message) => {
    const server = await startRaw();
    expect(await server.exchange(frame)).toEqual([{ jsonrpc: '2.0', id: 7, error: { code, message } }]);
    expect(server.text()).not.toContain(SECRET);
  });

  it('answers a protocol version that it does not know with its own', async () => {
    const server = await startRaw();
    const params = { protocolVersion: SECRET, capabilities: {}, clientInfo: { name: SECRET, version: '0' } };
    const [frame] = await server.exchange(request('initialize', params));
    expect(frame?.['result'].protocolVersion).toBe('2025-11-25');
    expect(server.text()).not.toContain(SECRET);
  });

  it('handles a call that asks for a task like any other', async () => {
    const server = await startRaw();
    const [frame] = await server.exchange(request('tools/call', { name: 'pi_session_list', task: { ttl: 1 } }));
    expect(frame?.['result'].structuredContent.ok).toBe(true);
  });

  it('answers each of two requests with one id', async () => {
    const server = await startRaw();
    const answers = await server.exchange(request('tools/list'), request('ping'));
    expect(answers.map((frame) => frame['id'])).toEqual([7, 7]);
  });
});
