// The balance of a run: what clients were answered is what gateways counted and what back ends wrote down.
//
// A virtual user cannot see the others' numbers, and `teardown` sees nobody's. So every answer adds one to a
// counter, and `teardown` takes off what the servers say: it stands at nought, or something is missing.

import http from 'k6/http';
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
import { admin, ask } from './client.ts';
import { run } from './config.ts';

export const answersUnaccounted = new Counter('answers_unaccounted');
export const imagesUnaccounted = new Counter('images_unaccounted');
const imagesUnmade = new Counter('images_unmade');
const duplicateGenerations = new Counter('duplicate_generations');
const slotsLeftBehind = new Counter('slots_left_behind');

const QUIET_S = 10;
const LOOK_EVERY_S = 0.2;

export interface Opening {
  answered: number;
  delivered: number;
  made: string[];
}

// How the books stand before the run. Throws where a gateway or a ledger does not answer.
export function opened(): Opening {
  for (const url of run.urls) {
    const reply = ask('GET', `${url}/readyz`, '');
    if (reply.status !== 200) throw new Error(`${url} takes no traffic: /readyz answered ${reply.status}`);
  }
  return { answered: answered(), delivered: delivered(), made: deliveries() };
}

// Closes the books: every server is asked, and the counters get their other side.
export function balanced(opening: Opening): void {
  slotsLeftBehind.add(untilQuiet());
  answersUnaccounted.add(opening.answered - answered());
  imagesUnaccounted.add(opening.delivered - delivered());
  if (!run.ledgers.length) return;
  const earlier = new Set(opening.made);
  const jobs = deliveries().filter((job) => !earlier.has(job));
  const different = new Set(jobs).size;
  imagesUnmade.add(delivered() - opening.delivered - different);
  duplicateGenerations.add(jobs.length - different);
}

function delivered(): number {
  return total('spillover_images_delivered_total');
}

// Generations that gateways have answered, whatever the answer was.
function answered(): number {
  return total('spillover_requests_total') + total('spillover_requests_refused_total');
}

function total(metric: string): number {
  return run.urls.reduce((sum, url) => sum + counted(url, metric), 0);
}

function counted(url: string, metric: string): number {
  const text = ask('GET', `${url}/metrics`, run.adminKey).body || '';
  if (!text.includes('spillover_')) throw new Error(`${url}/metrics did not answer with metrics`);
  const rows = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
  return rows.reduce((sum, row) => sum + Number(row.slice(row.lastIndexOf(' ') + 1)), 0);
}

// The job of every image that a worker delivered or a provider billed.
function deliveries(): string[] {
  return run.ledgers.flatMap((url) => {
    const reply = http.get(`${url}/_emulator/ledger?worker=*&kind=delivered,billed`, { responseType: 'text' });
    const { rows } = reply.json() as unknown as { rows: Row[] };
    return rows.filter((row) => row.kind === 'billed' || row.status === 200).map((row) => row.job);
  });
}

interface Row {
  kind: string;
  job: string;
  status?: number;
}

interface State {
  waiting: number;
  pools: { slots: { leased: number; offered: number; ghost: number } }[];
  accounts: { in_flight: number }[];
}

// Slots, places and paid attempts that still stand when everything has been answered for a while.
function untilQuiet(): number {
  for (let waited = 0; ; waited += LOOK_EVERY_S) {
    const state = admin<State>('GET', '/admin/state');
    const slots = state.pools.reduce((sum, { slots }) => sum + slots.leased + slots.offered + slots.ghost, 0);
    const paid = state.accounts.reduce((sum, account) => sum + account.in_flight, 0);
    const left = state.waiting + slots + paid;
    if (left === 0 || waited >= QUIET_S) return left;
    sleep(LOOK_EVERY_S);
  }
}
