import { useEffect, useState } from 'preact/hooks';
import type { RankingsResponse } from '../../../../schemas/responses/rankings.ts';
import { type Resource, useResource } from '../resource.ts';
import { follow } from '../stream.ts';

/** Polled too, since the stream has the first page only. */
const EVERY_MS = 10_000;

/** A ranking, kept up to date: its first page comes over the stream whenever it changes. */
export function useRanking(question: URLSearchParams): Resource<RankingsResponse> {
  const text = question.toString();
  const first = !question.has('offset');
  const answer = useResource<RankingsResponse>(`/rankings?${text}`, EVERY_MS);
  const [live, setLive] = useState<{ text: string; data: RankingsResponse; at: number } | null>(null);
  useEffect(() => {
    if (!first) return;
    const followed = new URLSearchParams(text);
    followed.delete('limit');
    return follow(`/stream/rankings?${followed}`, {
      ranking: (data) => setLive({ text, data: data as RankingsResponse, at: Date.now() }),
    });
  }, [text, first]);
  // A ranking that is refused or fails is shown so, whatever the stream brought before.
  if (answer.state !== 'ready' || live === null || live.text !== text || live.at < (answer.at ?? 0))
    return answer;
  return { ...answer, data: live.data, at: live.at };
}
