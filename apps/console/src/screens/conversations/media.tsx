import { useQuery } from '@tanstack/react-query';
import { Download, FileText } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatBytes, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { conversationsCatalog } from './texts';
import type { ChannelMessage } from './timeline';

const shown = /^(image\/(jpeg|png|gif|webp)|audio\/|video\/(mp4|webm|3gpp))/;

/**
 * The file of a message: a picture, a sound, a video, or something to download. Its bytes are read
 * with the headers of the session.
 */
export function Media({ sent }: { sent: ChannelMessage }) {
  const conversations = useTexts(conversationsCatalog);
  const { api, key } = useWorkspace();
  const media = sent.media!;
  const type = media.contentType ?? '';
  const isVideo = type.startsWith('video/');
  const isShown = shown.test(type);
  const [isAsked, setAsked] = useState(false);
  // A video is large, so it is loaded when a person asks for it. The type of a file is unknown
  // until it has been fetched.
  const isNeeded = isAsked || (isShown && !isVideo);
  const { data: blob, error } = useQuery({
    queryKey: [...key, 'media', sent.id],
    queryFn: async ({ signal }) => (await api.getMessageMedia({ id: sent.id }, { signal })).blob(),
    enabled: isNeeded && media.status === 'ready',
    staleTime: Infinity,
    gcTime: 60_000,
  });
  const url = useObjectUrl(blob);
  const kind = conversations.types[sent.type] ?? sent.type;
  const name = media.filename ?? kind;
  useEffect(() => {
    if (url === null || isShown) return;
    Object.assign(document.createElement('a'), { href: url, download: name }).click();
    setAsked(false);
  }, [url, isShown, name]);
  if (media.status === 'failed' || error)
    return (
      <p className="text-failed">
        {[conversations.fileFailed, media.error].filter(Boolean).join(': ')}
      </p>
    );
  if (media.status !== 'ready') return <p className="text-n11">{conversations.filePending}</p>;
  if (!isShown || (isVideo && !isNeeded))
    return (
      <Button
        icon={isVideo ? Download : FileText}
        isBusy={isNeeded}
        title={conversations.download(name)}
        onClick={() => setAsked(true)}
        className="max-w-full"
      >
        <span className="truncate">{name}</span>
        {media.size !== null && <span className="text-n11">{formatBytes(media.size)}</span>}
      </Button>
    );
  if (url === null)
    return (
      <p className="h-24 w-40 rounded bg-n4 p-2 text-xs text-n11">{conversations.fileLoading}</p>
    );
  if (type.startsWith('audio/'))
    return (
      <audio controls src={url} aria-label={conversations.voice} className="h-11 w-64 max-w-full" />
    );
  if (isVideo)
    return <video controls src={url} aria-label={name} className="max-h-72 max-w-full rounded" />;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" title={conversations.openPicture}>
      <img src={url} alt={name} className="max-h-72 max-w-full rounded" />
    </a>
  );
}

/** The address of a file in this page; null without one. */
export function useObjectUrl(blob: Blob | null | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) return setUrl(null);
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return url;
}
