// One prompt a line, held once for all virtual users.

import { SharedArray } from 'k6/data';

const prompts = new SharedArray('prompts', () => lines());

export function promptOf(number: number): string {
  return prompts[number % prompts.length];
}

function lines(): string[] {
  return text().split('\n').map((line) => line.trim()).filter((line) => line && !line.startsWith('#'));
}

function text(): string {
  try {
    return open('../../prompts.txt');
  } catch {
    return open('../data/prompts.txt');
  }
}
