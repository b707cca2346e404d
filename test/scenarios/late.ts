const LATE = /the store has not answered for/;
/** Each of them took five seconds or ten. */
const MOST_TRIES = 12;

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Asks again where the machine was too busy for an answer in time, which is said or is none: that is no figure. */
export async function inTime<A extends Answer | null>(answer: () => Promise<A>): Promise<A> {
  for (let tries = 1; ; tries += 1) {
    const got = await answer();
    const isLate = got?.status === 500 && LATE.test(String(got.body.detail));
    const isBusy = got?.status === 503 && got.body.code === 'busy';
    if ((got !== null && !isLate && !isBusy) || tries === MOST_TRIES) return got;
  }
}
