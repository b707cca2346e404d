/** What `bankroll-indexer/client` exports: the package's only entry, so it names everything that is public. */
export type { CloseRequest, OpenRequest, PostRequest } from '../../schemas/requests.ts';
export type { Exposure, ReleaseResponse } from '../../schemas/responses/agent.ts';
export type { AgentPost, PostsResponse } from '../../schemas/responses/coin/posts.ts';
export { type Agent, type AgentOptions, createAgent } from './agent.ts';
export { type Client, createClient, type RankingsOptions } from './client.ts';
export type { ExposuresPage } from './exposures.ts';
export { ApiError, type HttpOptions, NoAnswerError } from './http.ts';
export { createSigner, type Signer } from './key.ts';
export { checkMessage, type ExpectedMessage, UnsafeMessageError } from './message.ts';
export type { Page } from './page.ts';
