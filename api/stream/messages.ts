import type { ChainEvent, ChainNews } from './activity.ts';
import type { FreshPost } from './posts.ts';
import { gapMessage, type StreamMessage, type Subscriber } from './subscribers.ts';
import { sharedEvent } from './wire.ts';

const TAKEN_BACK = 'events that may have been told were taken back: what stands is in the list';

export const wantsEvent = (one: Subscriber, { mint, kind }: ChainEvent): boolean =>
  one.events && (one.mint === null || one.mint === mint) && (one.kind === null || one.kind === kind);

/** Ignores the kind that a client asks for: of what kind the events are that stand instead is not known here. */
export const wantsNews = (one: Subscriber, news: ChainNews): boolean =>
  'data' in news ? wantsEvent(one, news) : one.events && (one.mint === null || one.mint === news.mint);

export const wantsPost = (one: Subscriber, { post }: FreshPost): boolean =>
  one.posts && (one.mint === null || one.mint === post.mint);

export const eventMessage = ({ identity, position, data }: ChainEvent): StreamMessage => ({
  identity,
  part: { chain: position },
  bytes: sharedEvent('activity', data),
});

export const newsMessage = (news: ChainNews): StreamMessage =>
  'data' in news
    ? eventMessage(news)
    : gapMessage(TAKEN_BACK, 'activity', news.mint, { chain: news.position });

export const postMessage = ({ position, post }: FreshPost): StreamMessage => ({
  identity: post.id,
  part: { post: position },
  bytes: sharedEvent('post', post),
});
