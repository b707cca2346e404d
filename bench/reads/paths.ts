import { RANKED } from '../peers/ranked.ts';
import { mintOf } from './data.ts';

const MANY = 2_000;
const LIMIT = 50;
const MOST_OFFSET = 99_950;

const lot = (most: number): number => Math.floor(Math.random() * most);

export const coins = (policies: number): string[] =>
  Array.from({ length: Math.min(MANY, policies) }, () => `/coins/${mintOf(lot(policies))}`);

/** Random sort, order, filter and page. */
export const rankings = (policies: number): string[] => {
  const sorts = Object.keys(RANKED);
  const modes = ['', '&mode=Agent', '&mode=Passive'];
  const pages = Math.max(1, Math.ceil(Math.min(policies, MOST_OFFSET + LIMIT) / LIMIT));
  return Array.from({ length: MANY }, () => {
    const order = lot(2) === 0 ? 'desc' : 'asc';
    return `/rankings?sort=${sorts[lot(sorts.length)]}&order=${order}&limit=${LIMIT}&offset=${lot(pages) * LIMIT}${modes[lot(3)]}`;
  });
};

export const ofCoins = (route: string, policies: number): string[] =>
  coins(policies).map((path) => (route === '' ? path : `${path}/${route}`));

/** The different paths of a list, at most so many. */
export const once = (paths: readonly string[], most: number): string[] => [...new Set(paths)].slice(0, most);

const ROUTES = ['', '/positions', '/fees', '/loop', '/holders', '/activity'];

/** Every route that reads; most paths are coins and rankings. */
export const mixed = (policies: number): string[] => [
  ...coins(policies).map((path, at) => path + ROUTES[at % ROUTES.length]),
  ...rankings(policies).slice(0, MANY / 2),
  ...Array.from({ length: MANY / 50 }, () => [
    '/status',
    '/analytics',
    '/quotes',
    '/origins',
    '/models',
  ]).flat(),
];
