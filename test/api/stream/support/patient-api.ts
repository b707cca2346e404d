import { runApi } from '../../../../api/run.ts';
import { PATIENCE_MS } from '../../../support/awaited.ts';

/** The API's process, where no stream of events and posts begins without its posts because they are slow. */
await runApi({ postsWaitMs: PATIENCE_MS });
