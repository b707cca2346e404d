export const PAGE = 50;

/** The parameters of the address that go to the API, in a fixed order: equal queries have equal texts. */
const ASKED = [
  'sort',
  'order',
  'offset',
  'mode',
  'origin',
  'model',
  'quote',
  'locked',
  'paused',
  'search',
] as const;

export const FILTERS = ['mode', 'origin', 'model', 'quote', 'locked', 'paused', 'search'] as const;

export function asked(query: URLSearchParams): URLSearchParams {
  const question = new URLSearchParams();
  for (const name of ASKED) {
    const value = query.get(name);
    if (value !== null && value !== '') question.set(name, value);
  }
  question.set('limit', String(PAGE));
  return question;
}
