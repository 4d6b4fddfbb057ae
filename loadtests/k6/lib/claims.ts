// Training takes nodes in the middle of a run, and gives them back.

import { check, sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import { admin } from './client.ts';
import { run } from './config.ts';

const claimsHeld = new Counter('claims_held');
const timeToHeld = new Trend('time_to_held', true);
const LOOK_EVERY_S = 0.2;

export interface Claim {
  id: string;
  owner: string;
  phase: string;
}

// One claim, from its order to its end. `owner` is how `releaseAll` finds it again.
export function claimAndRelease(owner: string): void {
  const began = Date.now();
  const order = { nodes: run.nodes, owner, reason: 'load test', grace_s: run.graceS, ttl_s: 600 };
  const claim = admin<Claim>('POST', '/admin/claims', order);
  const held = untilHeld(claim.id, began);
  check(held, { 'the claim is held before it is given back': () => held });
  sleep(Math.max(0, run.claimForS - (Date.now() - began) / 1000));
  const ended = admin<Claim>('DELETE', `/admin/claims/${claim.id}`);
  check(ended, { 'the claim is released': () => ended.phase === 'released' });
}

// For `teardown`: whatever became of the run, its nodes are given back.
export function releaseAll(owner: string): void {
  const { claims } = admin<{ claims: Claim[] }>('GET', '/admin/claims');
  for (const claim of claims.filter((one) => one.owner === owner)) {
    admin('DELETE', `/admin/claims/${claim.id}`);
  }
}

function untilHeld(id: string, began: number): boolean {
  while (Date.now() - began < run.claimForS * 1000) {
    if (admin<Claim>('GET', `/admin/claims/${id}`).phase === 'held') {
      claimsHeld.add(1);
      timeToHeld.add(Date.now() - began);
      return true;
    }
    sleep(LOOK_EVERY_S);
  }
  return false;
}
