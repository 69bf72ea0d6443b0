import type { ResultOf } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { conversationsCatalog } from './texts';

type File = NonNullable<ResultOf<'listChannelMessages'>['data'][number]['media']>;

/** The file of a message: a picture, a sound, or something to download. Its bytes are read with the headers of the session. */
export function Media({ id, media }: { id: string; media: File }) {
  const conversations = useTexts(conversationsCatalog);
  const { api, key } = useWorkspace();
  const isShown = /^(image\/(jpeg|png|gif|webp)|audio\/)/.test(media.contentType ?? '');
  const [isWanted, setWanted] = useState(isShown);
  const { data: blob, error } = useQuery({
    queryKey: [...key, 'media', id],
    queryFn: async ({ signal }) => (await api.getMessageMedia({ id }, { signal })).blob(),
    enabled: isWanted && media.status === 'ready',
    staleTime: Infinity,
    gcTime: 60_000,
  });
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (blob === undefined) return;
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  const name = media.filename ?? media.contentType ?? id;
  useEffect(() => {
    if (url === undefined || isShown) return;
    const link = Object.assign(document.createElement('a'), { href: url, download: name });
    link.click();
    setWanted(false);
  }, [url, isShown, name]);
  if (media.status === 'failed' || error)
    return <p className="text-failed">{`${conversations.fileFailed}${media.error ? `: ${media.error}` : ''}`}</p>;
  if (!isShown)
    return (
      <Button icon={Download} isBusy={isWanted} onClick={() => setWanted(true)}>
        {conversations.download(name)}
      </Button>
    );
  if (url === undefined) return <p className="text-n11">{conversations.fileLoading}</p>;
  return media.contentType!.startsWith('audio/') ? (
    <audio controls src={url} aria-label={conversations.voice} className="max-w-full" />
  ) : (
    <a href={url} target="_blank" rel="noopener">
      <img src={url} alt={name} className="max-h-72 max-w-full rounded" />
    </a>
  );
}
