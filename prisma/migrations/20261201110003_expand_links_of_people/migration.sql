CREATE TABLE "password_salts" (
    "email" TEXT NOT NULL,
    "salt" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "password_salts_pkey" PRIMARY KEY ("email")
);

CREATE TABLE "person_links" (
    "user_id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "email" TEXT,
    "proof_tenant" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "person_links_pkey" PRIMARY KEY ("user_id", "purpose"),
    CONSTRAINT "person_links_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "person_links_hash_key" ON "person_links"("hash");
