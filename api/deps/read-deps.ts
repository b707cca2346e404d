import type { Latest } from '../latest/latest.ts';
import type { ReadPosts } from './posts.ts';
import type { ReadSettings } from './settings.ts';

/** What the read routes answer from. */
export interface ReadDeps {
  latest: Latest;
  settings: ReadSettings;
  /** Null where there is no agent side: every feed is empty. */
  readPosts: ReadPosts | null;
}
