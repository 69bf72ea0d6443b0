-- Messages of a contact who sends very many are answered together, in the turn of the first of them.
ALTER TABLE "messages" ADD COLUMN "answered_with" TEXT;
