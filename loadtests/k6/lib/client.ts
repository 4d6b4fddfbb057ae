// Requests to the router, as a product backend and as an operator send them.

import http from 'k6/http';
import type { RefinedResponse } from 'k6/http';
import { run } from './config.ts';

export type Reply = RefinedResponse<'text'>;

const MARGIN_S = 5;

export function gateway(number: number): string {
  return run.urls[number % run.urls.length];
}

export function generate(number: number, prompt: string, tags: Record<string, string>): Reply {
  const body = { prompt, seed: number, size: run.size, steps: run.steps };
  return http.post(`${gateway(number)}/v1/images/generations`, JSON.stringify(body), {
    headers: { ...bearer(run.apiKey), ...JSON_BODY, 'Spillover-Deadline': `${run.deadlineS}` },
    timeout: `${run.deadlineS + MARGIN_S}s`,
    responseType: 'text',
    responseCallback: http.expectedStatuses(200),
    tags: { name: 'generation', ...tags },
  });
}

// Any other request. `expected`: what is no failure here.
export function ask(
  method: string,
  url: string,
  key: string,
  body: object | null = null,
  ...expected: number[]
): Reply {
  return http.request(method, url, body === null ? null : JSON.stringify(body), {
    headers: { ...bearer(key), ...JSON_BODY },
    timeout: '10s',
    responseType: 'text',
    responseCallback: http.expectedStatuses(...(expected.length ? expected : [200])),
    tags: { name: 'other' },
  });
}

// An operator's request, whose answer is a document. Throws where it is refused.
export function admin<T>(method: string, path: string, body: object | null = null): T {
  const reply = ask(method, gateway(0) + path, run.adminKey, body, 200, 201);
  if (reply.status !== 200 && reply.status !== 201) {
    throw new Error(`${method} ${path} answered ${reply.status}: ${reply.body}`);
  }
  return reply.json() as T;
}

const JSON_BODY = { 'Content-Type': 'application/json' };

function bearer(key: string): Record<string, string> {
  return key ? { Authorization: `Bearer ${key}` } : {};
}
