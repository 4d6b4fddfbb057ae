// What every answer must be, and what is counted of it.

import { check } from 'k6';
import { Counter, Rate, Trend } from 'k6/metrics';
import type { Reply } from './client.ts';
import { answersUnaccounted, imagesUnaccounted } from './conservation.ts';

const answeredWell = new Rate('answered_well');
const spilled = new Rate('spilled');
const lostRequests = new Counter('lost_requests');
const timeToImage = new Trend('time_to_image', true);
const timeInQueue = new Trend('time_in_queue', true);
const timeRunning = new Trend('time_running', true);

// The first eight bytes of every PNG in base64, up to the last whole character.
const PNG = '"b64_json":"iVBORw0KGgo';

export function judge(reply: Reply, tags: Record<string, string>): void {
  const made = reply.status === 200;
  const right = check(
    reply,
    {
      'it is answered': () => reply.status > 0,
      'a success is a PNG': () => !made || holdsPng(reply),
      'a success says where it ran': () => !made || /^(onprem|external)$/.test(header(reply, 'Spillover-Route')),
      'a refusal has a code and says whether to retry': () => made || isRefusal(reply),
    },
    tags,
  );
  answeredWell.add(made && right, tags);
  lostRequests.add(right ? 0 : 1, tags);
  if (reply.status > 0) answersUnaccounted.add(1);
  if (!made) return;
  imagesUnaccounted.add(1);
  spilled.add(header(reply, 'Spillover-Route') === 'external', tags);
  timeToImage.add(reply.timings.duration, tags);
  timeInQueue.add(serverTiming(reply, 'queue'), tags);
  timeRunning.add(serverTiming(reply, 'run'), tags);
}

// Only the place where the image begins is looked at; the image is never decoded.
function holdsPng(reply: Reply): boolean {
  return (reply.body || '').includes(PNG);
}

export function isRefusal(reply: Reply): boolean {
  if (reply.status < 400) return false;
  const document = reply.json() as { error?: Refusal } & Refusal;
  const refusal = document.error || document;
  const waits = reply.status !== 429 && reply.status !== 503 ? true : Number(header(reply, 'Retry-After')) >= 1;
  return Boolean(refusal.code) && typeof refusal.retryable === 'boolean' && waits;
}

interface Refusal {
  code?: string;
  retryable?: boolean;
}

// k6 gives header names in Go's canonical form.
export function header(reply: Reply, name: string): string {
  return reply.headers[name] || '';
}

function serverTiming(reply: Reply, part: string): number {
  const found = new RegExp(`(?:^|[ ,])${part};dur=([0-9.]+)`).exec(header(reply, 'Server-Timing'));
  return found ? Number(found[1]) : 0;
}
