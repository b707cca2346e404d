import { expect, test } from 'vitest';
import { linkModules } from '../../api/explorer/link-modules.ts';

const link = (modules: Record<string, string>) =>
  linkModules(new Map(Object.entries(modules)), (specifier) => specifier);

test('an import says the name of what it imports, and that name follows the bytes all the way down', () => {
  const before = link({ main: "import { a } from 'a'; import('late');", a: 'import"b";', b: '1', late: '2' });
  const after = link({ main: "import { a } from 'a'; import('late');", a: 'import"b";', b: '1 ', late: '2' });
  const main = before.get('main');
  expect(String(main?.bytes)).toBe(
    `import { a } from './${before.get('a')?.fileName}'; import('./${before.get('late')?.fileName}');`,
  );
  for (const key of ['main', 'a', 'b'])
    expect(after.get(key)?.fileName, key).not.toBe(before.get(key)?.fileName);
  expect(after.get('late')?.fileName).toBe(before.get('late')?.fileName);
});

test('what is imported at once is needed, what is imported later is not', () => {
  const linked = link({
    main: "import 'a'; import('late');",
    a: "export { b } from 'b';",
    b: '1',
    late: '2',
  });
  const names = ['b', 'a', 'main'].map((key) => linked.get(key)?.fileName);
  expect([...(linked.get('main')?.needs ?? [])]).toEqual(names);
});

test('an import of nothing, and a circle, are told before anything is served', () => {
  expect(() => link({ main: "import 'gone';" })).toThrow('main imports gone, which is not served');
  expect(() => link({ a: "import 'b';", b: "import 'a';" })).toThrow('imports itself by way of others');
});
