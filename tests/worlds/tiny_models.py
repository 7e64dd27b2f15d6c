"""Models with random weights, small enough to be made on the spot, in folders as Hugging Face has them."""

from pathlib import Path
from typing import Any

WORDS = [
    "yes",
    "no",
    "a",
    "the",
    "is",
    "in",
    "of",
    "image",
    "images",
    "answer",
    "with",
    "or",
    "how",
    "many",
    "dog",
    "cat",
    "red",
    "are",
    "there",
    "<image>",
    "user",
    "assistant",
]
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }} "
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %} {% endfor %}assistant "
)
SPECIAL = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}


def tokenizer(**more: Any) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {word: at for at, word in enumerate([*SPECIAL.values(), *WORDS])}
    own = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=own, padding_side="left", **SPECIAL, **more)


def text_config() -> Any:
    from transformers import LlamaConfig

    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 1, "max_position_embeddings": 512}
    return LlamaConfig(vocab_size=len(SPECIAL) + len(WORDS), num_key_value_heads=2, **size, **ends)


def tiny_text_model(folder: Path) -> None:
    """It was never taught to chat."""
    import torch
    from transformers import LlamaForCausalLM

    torch.manual_seed(0)
    LlamaForCausalLM(text_config()).save_pretrained(folder)
    tokenizer().save_pretrained(folder)


def tiny_vision_model(folder: Path) -> None:
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    torch.manual_seed(0)
    seen = CLIPVisionConfig(
        hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2, image_size=32, patch_size=16
    )
    own = tokenizer(additional_special_tokens=["<image>"])
    image = own.convert_tokens_to_ids("<image>")
    config = LlavaConfig(vision_config=seen, text_config=text_config(), image_token_index=image, image_seq_length=4)
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    size = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}}
    how = {"patch_size": 16, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    LlavaProcessor(
        CLIPImageProcessor(**size), own, chat_template=TEMPLATE, image_token="<image>", **how
    ).save_pretrained(folder)
