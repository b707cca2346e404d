import { expect, test } from 'vitest';
import { TokenMark, TokenName } from '../../api/explorer/browser/parts/token.ts';

type Drawn = { type: unknown; props: { children?: unknown } };

/** The size of drawn content: how many elements and texts, and how many characters. */
function sizeOf(drawn: unknown): { nodes: number; characters: number } {
  if (drawn === null || drawn === undefined || typeof drawn === 'boolean') return { nodes: 0, characters: 0 };
  if (typeof drawn === 'string') return { nodes: 1, characters: drawn.length };
  if (Array.isArray(drawn)) {
    const all = drawn.map(sizeOf);
    const sum = (which: 'nodes' | 'characters') => all.reduce((total, one) => total + one[which], 0);
    return { nodes: sum('nodes'), characters: sum('characters') };
  }
  const { type, props } = drawn as Drawn;
  if (typeof type === 'function') return sizeOf(type(props));
  const { nodes, characters } = sizeOf(props.children);
  return { nodes: nodes + 1, characters };
}

test.each([
  ['are invisible', '\u0003'.repeat(10_000)],
  ['are visible', 'x'.repeat(10_000)],
])('a name and a symbol of 10,000 characters that %s take few nodes in a list', (_, text) => {
  const asked = { name: text, symbol: text, mint: 'M'.repeat(44) };
  const { nodes, characters } = sizeOf([TokenMark(asked), TokenName(asked)]);
  expect(nodes).toBeLessThan(50);
  expect(characters).toBeLessThan(2_000);
});
