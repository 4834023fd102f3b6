// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {IWalletDelegate} from "./interfaces/IWalletDelegate.sol";
import {RequestNumber} from "./libraries/RequestNumber.sol";

/// @title WalletDelegate
/// @notice See {IWalletDelegate}.
contract WalletDelegate is IWalletDelegate, IERC1271, ERC721Holder, ERC1155Holder, EIP712 {
    bytes32 private constant _EXECUTION_TYPEHASH = keccak256(
        "Execution(address relay,address target,bytes data,uint256 number)"
    );

    /// @dev The answer to {isValidSignature} when the signature is not the wallet's. ERC-1271 leaves the value open.
    bytes4 private constant _INVALID_SIGNATURE = 0xffffffff;

    /// @inheritdoc IWalletDelegate
    address public immutable relay;

    /// @param relay_ The relay, the only account that can call {execute}.
    constructor(address relay_) EIP712("Moneta", "1") {
        relay = relay_;
    }

    /// @dev A wallet that delegated must still be able to receive the native currency, also with data. A call of an
    /// unknown function does nothing, as if the wallet had no code.
    receive() external payable {}

    /// @dev See {receive}.
    fallback() external payable {}

    /// @inheritdoc IWalletDelegate
    function execute(address target, bytes calldata data, bytes32 r, bytes32 vs) external {
        if (msg.sender != relay) revert DelegateUnauthorizedRelay(msg.sender);
        uint256 number = RequestNumber.fromCalldata();
        bytes32 structHash = keccak256(abi.encode(_EXECUTION_TYPEHASH, relay, target, keccak256(data), number));
        (address signer, , ) = ECDSA.tryRecover(_hashTypedDataV4(structHash), r, vs);
        if (signer != address(this)) revert DelegateInvalidSignature(address(this), signer, number);

        Address.functionCall(target, data);
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (uint8 v, bytes32 r, bytes32 s) = ECDSA.parseCalldata(signature);
        (address signer, , ) = ECDSA.tryRecover(hash, v, r, s);
        return signer == address(this) ? IERC1271.isValidSignature.selector : _INVALID_SIGNATURE;
    }

    /// @inheritdoc ERC1155Holder
    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return
            interfaceId == type(IERC721Receiver).interfaceId ||
            interfaceId == type(IERC1271).interfaceId ||
            super.supportsInterface(interfaceId);
    }
}
