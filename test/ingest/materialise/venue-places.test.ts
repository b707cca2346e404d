import { expect, test } from 'vitest';
import { createVenuePlaces } from '../../../ingest/materialise/rows/venue-places.ts';

test('the row that places a venue account at its policy is made until it is written, then no more', () => {
  const places = createVenuePlaces();
  const states = [{ address: 'one', policy: 'p' }, { address: 'closed' }, { address: 'two', policy: 'p' }];
  const rows = places.rowsOf(states);
  expect(rows).toEqual([
    { policy: 'p', address: 'one' },
    { policy: 'p', address: 'two' },
  ]);
  expect(places.rowsOf(states)).toEqual(rows);
  places.wrote(rows);
  expect(places.rowsOf(states)).toEqual([]);
  expect(places.rowsOf([{ address: 'three', policy: 'p' }])).toEqual([{ policy: 'p', address: 'three' }]);
});
