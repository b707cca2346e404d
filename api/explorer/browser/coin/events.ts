import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActivityItem, ActivityResponse } from '../../../../schemas/responses/coin/activity.ts';
import { getJson, type Resource, useResource } from '../resource.ts';
import { withHead, withTail } from './merge.ts';

const PAGE = 100;
/** Rows asked for again with an older page, so that the two can be put together. */
const OVERLAP = 20;
/** No page is asked for so soon after one that did not fit to the newest: what is wrong may stay so for a while. */
const REST_MS = 3_000;

interface Events {
  /** The newest page. */
  first: Resource<ActivityResponse>;
  /** All that are known, newest first. */
  items: readonly ActivityItem[];
  /** Asks for older ones, if there are any and none are asked for now. */
  older(): void;
}

/** The events of a policy, page by page; a change of `fresh` says that there are new ones. */
export function useEvents(mint: string, fresh: number): Events {
  const path = `/coins/${encodeURIComponent(mint)}/activity?limit=${PAGE}`;
  const first = useResource<ActivityResponse>(path);
  const [items, setItems] = useState<ActivityItem[]>([]);
  const asking = useRef(false);
  /** The oldest of all, once it is known: the list is at its end as long as it ends with it. */
  const oldest = useRef<ActivityItem | null>(null);
  // The stream announced new events: read the list again.
  useEffect(() => {
    if (fresh > 0) first.again();
  }, [fresh]);
  useEffect(() => {
    if (first.data !== null) setItems((known) => withHead(known, first.data?.items ?? []));
  }, [first.data]);
  const newest = useRef(items);
  newest.current = items;
  const older = () => {
    if (asking.current || items.length < PAGE || items.at(-1) === oldest.current) return;
    asking.current = true;
    let restMs = 0;
    getJson<ActivityResponse>(`${path}&offset=${items.length - OVERLAP}`)
      .then((page) => {
        if (page.items.length < PAGE) oldest.current = page.items.at(-1) ?? null;
        if (withTail(newest.current, page.items) !== null) {
          setItems((known) => withTail(known, page.items) ?? known);
          return;
        }
        // The two do not overlap: too many events came, or some are not as they were. Only the newest page is kept, and
        // read again.
        if (newest.current.length > PAGE) setItems((known) => known.slice(0, PAGE));
        else restMs = REST_MS;
        first.again();
      })
      .catch(() => undefined)
      .finally(() => {
        setTimeout(() => {
          asking.current = false;
        }, restMs);
      });
  };
  return { first, items, older };
}
