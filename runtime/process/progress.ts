/** How far a piece of work is; counts are whole numbers. */
export interface ProgressState {
  /** What is done, as in `backfill`. */
  what: string;
  /** What is counted, as in `slots`. */
  unit: string;
  done: number;
  /** Null where it is not known how much there is. */
  total: number | null;
  /** Per second; null before it is known. */
  rate: number | null;
  /** Shown behind the numbers. */
  note: string;
}

/** Shows how far a piece of work is: a bar on a terminal, a plain line every few seconds elsewhere. */
export interface Progress {
  update(done: number, total?: number | null, note?: string): void;
  /** Shows the last state, and ends the bar's line. */
  end(): void;
}

export interface ProgressOptions {
  what: string;
  unit: string;
  /** Where it is shown; standard error, so that standard output stays for results. */
  out?: { isTTY?: boolean; columns?: number; write(text: string): unknown };
  /** Milliseconds that only rise. */
  clock?: () => number;
}

const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;
/** The rate is that of this last while: what was skipped or resumed at the start does not count. */
const RATE_WINDOW_MS = 15_000;
const SAMPLE_EVERY_MS = 500;
const BAR_WIDTH = 24;

export function createProgress(options: ProgressOptions): Progress {
  const { what, unit, out = process.stderr, clock = () => performance.now() } = options;
  const terminal = out.isTTY === true;
  let samples: { at: number; done: number }[] = [];
  let state: ProgressState = { what, unit, done: 0, total: null, rate: null, note: '' };
  let shownAt = Number.NEGATIVE_INFINITY;
  let shown = '';

  const sample = (done: number) => {
    const at = clock();
    const last = samples.at(-1);
    if (last !== undefined && done < last.done) samples = [];
    if (samples.length < 2 || at - (samples.at(-2)?.at ?? 0) >= SAMPLE_EVERY_MS) samples.push({ at, done });
    else samples[samples.length - 1] = { at, done };
    while (samples.length > 2 && at - (samples[1] as { at: number }).at > RATE_WINDOW_MS) samples.shift();
  };
  const rate = () => {
    const [first, last] = [samples[0], samples.at(-1)];
    if (first === undefined || last === undefined || last.at - first.at < SAMPLE_EVERY_MS) return null;
    return ((last.done - first.done) * 1_000) / (last.at - first.at);
  };
  const show = () => {
    const line = terminal ? barLine(state, out.columns ?? 80) : plainLine(state);
    if (line === shown) return;
    shown = line;
    shownAt = clock();
    out.write(terminal ? `\r\x1b[K${line}` : `${line}\n`);
  };
  return {
    update: (done, total = state.total, note = state.note) => {
      sample(done);
      // The total was counted at the start: with what came since, more than that may be done.
      state = { ...state, done, total: total === null ? null : Math.max(done, total), note, rate: rate() };
      if (clock() - shownAt >= (terminal ? BAR_EVERY_MS : LINE_EVERY_MS)) show();
    },
    end: () => {
      if (samples.length === 0) return;
      show();
      if (terminal) out.write('\n');
    },
  };
}

/** `backfill 45 %, 450 of 1,000 slots, 12/s, 46 s left, 90 transactions` */
export function plainLine(state: ProgressState): string {
  return `${state.what} ${facts(state).join(', ')}`;
}

/** The same with a bar, cut to what the terminal shows in one line. */
export function barLine(state: ProgressState, columns: number): string {
  const share = shareOf(state);
  const full = share === null ? null : Math.floor(share * BAR_WIDTH);
  const bar = full === null ? '' : ` [${'='.repeat(full)}${' '.repeat(BAR_WIDTH - full)}]`;
  return `${state.what}${bar} ${facts(state).join(', ')}`.slice(0, Math.max(1, columns - 1));
}

function facts(state: ProgressState): string[] {
  const { done, total, unit, rate, note } = state;
  const share = shareOf(state);
  const left = total === null || rate === null || rate <= 0 ? null : (total - done) / rate;
  return [
    share === null ? null : `${Math.floor(share * 100)} %`,
    total === null ? `${grouped(done)} ${unit}` : `${grouped(done)} of ${grouped(total)} ${unit}`,
    rate === null ? null : `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s`,
    left === null || left < 0 ? null : `${spanText(left)} left`,
    note === '' ? null : note,
  ].filter((part) => part !== null);
}

function shareOf({ done, total }: ProgressState): number | null {
  if (total === null) return null;
  return total <= 0 ? 1 : Math.min(1, Math.max(0, done / total));
}

const grouped = (value: number) => Math.floor(value).toLocaleString('en-US');

/** Seconds as a person says them: `8 s`, `3 min 05 s`, `2 h 10 min`, `4 d 3 h`. */
export function spanText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3_600)} h ${two(Math.floor((whole % 3_600) / 60))} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3_600)} h`;
}

const two = (value: number) => String(value).padStart(2, '0');
