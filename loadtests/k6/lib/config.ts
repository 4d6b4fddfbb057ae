// What a run is told with `-e NAME=value`, with defaults that fit `make demo`. The only file that reads them.

// The two public keys of config/demo.yaml: nothing but the demo takes them.
const DEMO_KEY = 'spk_demogenerate_public-demo-key-never-a-secret-for-images-0';
const DEMO_ADMIN_KEY = 'spk_demoadmin000_public-demo-key-never-a-secret-for-admins-0';

export interface Run {
  urls: string[];
  apiKey: string;
  adminKey: string;
  rate: number;
  durationS: number;
  claimAtS: number;
  claimForS: number;
  graceS: number;
  nodes: string[];
  size: string;
  steps: number;
  deadlineS: number;
  p95Ms: number;
  ledgers: string[];
  results: string;
}

export const run: Run = read();

function read(): Run {
  const durationS = seconds('DURATION', 20);
  return {
    urls: list('BASE_URL', 'http://127.0.0.1:8080'),
    apiKey: __ENV.API_KEY || DEMO_KEY,
    adminKey: __ENV.ADMIN_KEY || DEMO_ADMIN_KEY,
    rate: number('RATE', 4),
    durationS,
    claimAtS: seconds('CLAIM_AT', durationS / 4),
    claimForS: seconds('CLAIM_FOR', durationS / 3),
    graceS: seconds('GRACE', 2),
    nodes: list('NODES', 'node-1,node-2'),
    size: __ENV.SIZE || '256x256',
    steps: number('STEPS', 8),
    deadlineS: seconds('DEADLINE', 10),
    p95Ms: number('P95_MS', 8000),
    ledgers: list('LEDGERS', ''),
    results: __ENV.RESULTS || beside('../results'),
  };
}

function list(name: string, otherwise: string): string[] {
  return (__ENV[name] || otherwise).split(',').map((word) => word.trim().replace(/\/+$/, '')).filter(Boolean);
}

function number(name: string, otherwise: number): number {
  const value = Number(__ENV[name] || otherwise);
  if (!(value > 0)) throw new Error(`${name} must be a number above 0, not "${__ENV[name]}"`);
  return value;
}

// "90", "90s", "1m30s" or "500ms".
function seconds(name: string, otherwise: number): number {
  const text = __ENV[name];
  if (!text) return otherwise;
  const parts = /^(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s?)?(?:(\d+)ms)?$/.exec(text);
  const value = parts ? Number(parts[1] || 0) * 60 + Number(parts[2] || 0) + Number(parts[3] || 0) / 1000 : 0;
  if (!(value > 0)) throw new Error(`${name} must be a time such as 20s or 1m30s, not "${text}"`);
  return value;
}

function beside(path: string): string {
  return import.meta.resolve(path).replace(/^file:\/\//, '');
}
