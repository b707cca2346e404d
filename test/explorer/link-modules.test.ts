import { expect, test } from 'vitest';
import { linkModules } from '../../api/explorer/link-modules.ts';

const link = (modules: Record<string, string>) =>
  linkModules(new Map(Object.entries(modules)), (specifier) => specifier);

test('imports are rewritten to hashed file names, which change with the bytes of any module below', () => {
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

test('a module needs its static imports, also indirect ones, and not those loaded later', () => {
  const linked = link({
    main: "import 'a'; import('late');",
    a: "export { b } from 'b';",
    b: '1',
    late: '2',
  });
  const names = ['b', 'a', 'main'].map((key) => linked.get(key)?.fileName);
  expect([...(linked.get('main')?.needs ?? [])]).toEqual(names);
});

test('an import of a missing module and a circular import are errors', () => {
  expect(() => link({ main: "import 'gone';" })).toThrow('main imports gone, which is not served');
  expect(() => link({ a: "import 'b';", b: "import 'a';" })).toThrow('imports itself by way of others');
});
